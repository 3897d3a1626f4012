import type { KnownClients, TransferredClient } from '../../client-transfer.store.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { hasKeys } from '#oauth/oauth-client.js';
import {
  MAX_REDIRECT_URIS,
  optionalScopeProblems,
  backchannelProblems,
  postLogoutProblems,
  privateSchemeProblems,
  redirectUriProblems,
  schemesInUse,
  scopeProblems,
} from '#oauth/registration/client-rules.js';
import { grantTypeProblems } from '../grant-type.js';
import { profileAlgorithmProblems, subjectTypeOf } from '../openid-registration.js';
import { quoted } from '#operations/wording.js';
import { changedFields } from './client-file.js';
import type { ClientOfFile } from './read-client-file.js';

/** `before` is null for a new client. */
export interface PlannedChange {
  readonly before: TransferredClient | null;
  readonly after: TransferredClient;
  readonly fields: readonly string[];
}

export interface ImportPlan {
  readonly changes: readonly PlannedChange[];
  readonly unchanged: number;
  /** Registered clients that are not in the file and stay unchanged. */
  readonly others: KnownClients['others'];
}

/** Reports problems through `report` of each client. @param now creation time of new clients without a date */
export function planImport(
  file: readonly ClientOfFile[],
  known: KnownClients,
  catalogue: ScopeCatalogue,
  now: Date,
): ImportPlan {
  const owners = new Map<string, string>();
  const changes = file.map(({ report, createdAt, secrets, keys, ...client }): PlannedChange => {
    const before = known.clients.get(client.clientId) ?? null;
    if (known.deleted.has(client.clientId))
      report('was deleted, and its identifier is never assigned again: choose another one', 'client_id');
    if (before && before.type !== client.type)
      report(`is ${before.type}, and cannot be changed: register another client`, 'type');
    if (before && before.grantType !== client.grantType)
      report(`is ${before.grantType}, and cannot be changed: register another client`, 'grant_types');
    // The application would see its users as new users, so this change needs a confirmation.
    if (before && before.sector !== client.sector)
      report(`is ${subjectText(before)} now, and an import does not change it`, 'subject', undefined, {
        text: 'First',
        command: ['client', 'update', client.clientId, '--subject', subjectTypeOf(client)],
      });
    checkRegistration({ ...client, report }, before, catalogue);
    const { jwks = null, jwksUri = null } = keys ?? before ?? {};
    const withKeys = hasKeys({ jwks, jwksUri });
    checkSecrets({ ...client, secrets, report, withKeys }, before, known, owners);
    checkRules({ ...client, report, withKeys });
    for (const { inFile, problem } of grantTypeProblems({ ...client, jwks, jwksUri }))
      report(problem, inFile);
    // The id is the `sub` of the client's tokens, which must never equal the `sub` of a user (RFC 9700 4.15).
    if (client.grantType === 'client_credentials' && !client.clientId.startsWith('sc_'))
      report('must begin with sc_, for client_credentials', 'client_id');
    const after = {
      ...client,
      jwks,
      jwksUri,
      createdAt: before?.createdAt ?? createdAt ?? now,
      // A registered secret keeps its exact time, because the file contains only the day.
      secrets: (secrets ?? before?.secrets ?? []).map(
        (secret) => before?.secrets.find(({ id }) => id === secret.id) ?? secret,
      ),
    };
    return { before, after, fields: before ? changedFields(before, after) : [] };
  });
  const effective = changes.filter(({ before, fields }) => before === null || fields.length > 0);
  return { changes: effective, unchanged: changes.length - effective.length, others: known.others };
}

function subjectText(client: TransferredClient): string {
  return client.sector === null ? subjectTypeOf(client) : `${subjectTypeOf(client)} at ${client.sector}`;
}

/** Permits registered redirect URIs and scopes that could not be added, such as a scope that is no longer declared. */
function checkRegistration(
  {
    redirectUris,
    privateSchemes,
    postLogoutRedirectUris,
    backchannelLogoutUri,
    scopes,
    optionalScopes,
    type,
    report,
  }: Omit<ClientOfFile, 'createdAt' | 'secrets' | 'keys'>,
  before: TransferredClient | null,
  catalogue: ScopeCatalogue,
): void {
  const rules = { type, privateSchemes };
  const newUris = postLogoutRedirectUris.filter((uri) => !before?.postLogoutRedirectUris.includes(uri));
  if (redirectUris.length > MAX_REDIRECT_URIS)
    report(`must be at most ${MAX_REDIRECT_URIS}`, 'redirect_uris');
  redirectUris.forEach((uri, index) => {
    if (before?.redirectUris.includes(uri)) return;
    for (const problem of redirectUriProblems([uri], rules)) report(problem, 'redirect_uris', index);
  });
  const withdrawn = before?.privateSchemes.filter((scheme) => !privateSchemes.includes(scheme)) ?? [];
  for (const problem of [
    ...privateSchemeProblems(privateSchemes, type),
    ...schemesInUse([...redirectUris, ...postLogoutRedirectUris], withdrawn),
  ])
    report(problem, 'private_schemes');
  for (const problem of backchannelProblems(backchannelLogoutUri)) report(problem, 'backchannel_logout_uri');
  for (const problem of postLogoutProblems(newUris, rules)) report(problem, 'post_logout_redirect_uris');
  scopes.forEach((scope, index) => {
    if (before?.scopes.includes(scope)) return;
    for (const problem of scopeProblems([scope], catalogue)) report(problem, 'scopes', index);
  });
  optionalScopes.forEach((scope, index) => {
    for (const problem of optionalScopeProblems([scope], scopes)) report(problem, 'optional_scopes', index);
  });
}

/** Checks the constraints of the table `clients`, and the signing algorithm that the profile allows. */
function checkRules({
  profile,
  dpopBound,
  keepsRefreshToken,
  requirePar,
  idTokenAlg,
  report,
  withKeys,
}: Pick<
  ClientOfFile,
  'profile' | 'dpopBound' | 'keepsRefreshToken' | 'requirePar' | 'idTokenAlg' | 'report'
> & {
  readonly withKeys: boolean;
}): void {
  if (keepsRefreshToken && !dpopBound)
    report('false needs dpop_bound_access_tokens: true (RFC 9700 4.14.2)', 'refresh_token_rotation');
  if (profile === 'fapi2' && !(keepsRefreshToken && requirePar && withKeys))
    report(
      'fapi2 requires keys, require_par: true and refresh_token_rotation: false (FAPI 2.0 5.3.2)',
      'profile',
    );
  for (const problem of profileAlgorithmProblems('it', profile, idTokenAlg)) report(problem, 'id_token_alg');
}

function checkSecrets(
  {
    clientId,
    type,
    secrets,
    report,
    withKeys,
  }: Pick<ClientOfFile, 'clientId' | 'type' | 'secrets' | 'report'> & { readonly withKeys: boolean },
  before: TransferredClient | null,
  known: KnownClients,
  owners: Map<string, string>,
): void {
  if (withKeys && (secrets ?? before?.secrets ?? []).length > 0)
    report(
      'an application with keys has none (RFC 6749 2.3): give an empty list to revoke them, or "jwks: null" to remove the keys',
      'secrets',
    );
  if (secrets?.length === 0 && type === 'confidential' && !withKeys && (before?.secrets.length ?? 0) > 0)
    report(
      'without any secret, the application could not authenticate: leave "secrets" out to keep them',
      'secrets',
    );
  secrets?.forEach(({ id, hash }, index) => {
    const stored = known.secrets.get(id);
    if (owners.has(id) || (stored && stored.clientId !== clientId))
      report(`the id ${quoted(id)} belongs to another secret`, 'secrets', index);
    else if (stored && !stored.hash.equals(hash))
      report(`the secret ${quoted(id)} has another hash: a new secret needs a new id`, 'secrets', index);
    else if (stored?.isRevoked)
      report(`the secret ${quoted(id)} was revoked, and cannot be used again: remove it`, 'secrets', index);
    owners.set(id, clientId);
  });
}
