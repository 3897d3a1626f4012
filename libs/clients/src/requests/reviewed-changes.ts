import type { ChangedRegistration, ClientRegistration } from '../client-registration.store.js';

/** Changes of a live application that an operator must approve; additions to lists, so that removals stay in force. */
export interface ProposedChanges {
  readonly name?: string;
  readonly clientUri?: string | null;
  readonly addRedirectUris?: readonly string[];
  readonly postLogoutRedirectUris?: readonly string[];
  readonly backchannelLogoutUri?: string | null;
  readonly addScopes?: readonly string[];
  readonly optionalScopes?: readonly string[];
}

const originOf = (uri: string): string | undefined => /^https?:\/\/[^/?#]+/.exec(uri)?.[0];

/**
 * Separates the changes that take effect immediately from those that need a review. The trigger `clients_guard_review`
 * enforces the same rules.
 * @param wanted valid registration after all changes
 */
export function splitChange(
  current: ClientRegistration,
  wanted: ClientRegistration,
): { readonly now: ChangedRegistration; readonly proposed: ProposedChanges } {
  const known = [
    ...current.redirectUris,
    ...current.postLogoutRedirectUris,
    ...(current.backchannelLogoutUri === null ? [] : [current.backchannelLogoutUri]),
  ];
  const origins = new Set(known.map(originOf).filter((origin) => origin !== undefined));
  const isKnown = (uri: string) => known.includes(uri) || origins.has(originOf(uri) ?? '');
  const redirectUris = orUnchanged(wanted.redirectUris.filter(isKnown), current.redirectUris);
  const scopes = orUnchanged(
    wanted.scopes.filter((scope) => current.scopes.includes(scope)),
    current.scopes,
  );
  const wasOptional = current.optionalScopes.filter((scope) => scopes.includes(scope));
  const optionalScopes = [
    ...new Set([...wasOptional, ...wanted.optionalScopes.filter((scope) => scopes.includes(scope))]),
  ];
  const postLogoutRedirectUris = wanted.postLogoutRedirectUris.filter(isKnown);
  const { backchannelLogoutUri: logoutUri } = wanted;
  const backchannelLogoutUri =
    logoutUri === null || isKnown(logoutUri) ? logoutUri : current.backchannelLogoutUri;
  const now = {
    ...current,
    policyUri: wanted.policyUri,
    contacts: wanted.contacts,
    jwks: wanted.jwks,
    jwksUri: wanted.jwksUri,
    redirectUris,
    postLogoutRedirectUris,
    backchannelLogoutUri,
    scopes,
    optionalScopes,
  };
  const addRedirectUris = wanted.redirectUris.filter((uri) => !redirectUris.includes(uri));
  const addScopes = wanted.scopes.filter((scope) => !scopes.includes(scope));
  const differs = (one: readonly string[], other: readonly string[]) =>
    one.toSorted().join('\n') !== other.toSorted().join('\n');
  return {
    now,
    proposed: {
      ...(wanted.name !== current.name && { name: wanted.name }),
      ...(wanted.clientUri !== current.clientUri && { clientUri: wanted.clientUri }),
      ...(addRedirectUris.length > 0 && { addRedirectUris }),
      ...(differs(wanted.postLogoutRedirectUris, postLogoutRedirectUris) && {
        postLogoutRedirectUris: wanted.postLogoutRedirectUris,
      }),
      ...(logoutUri !== backchannelLogoutUri && { backchannelLogoutUri: logoutUri }),
      ...(addScopes.length > 0 && { addScopes }),
      ...(differs(wanted.optionalScopes, optionalScopes) && { optionalScopes: wanted.optionalScopes }),
    },
  };
}

/** A live application keeps at least one of its values. */
function orUnchanged(kept: readonly string[], current: readonly string[]): readonly string[] {
  return kept.length === 0 ? current : kept;
}
