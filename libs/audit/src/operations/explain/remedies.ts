import type { AuditEvent } from '../../event.js';
import type { ClientWithSecrets } from '#clients/client.js';
import type { GuideEntry, Party } from '#error-guide/guide-entry.js';
import { ADMIN_SCOPES, isAdminScope } from '#oauth/client-credentials.js';
import { isRegistered, registrationProblem } from '#oauth/redirect-uri.js';
import { MAX_REDIRECT_URIS } from '#clients/registration/client-metadata.js';
import { redirectUriText } from '#error-guide/protocol-texts.js';
import { textsOf } from './comparison.js';

export interface Remedy {
  readonly party: Party;
  readonly action: string;
  /** Commands as lists of words, because values of an attacker's request may contain shell syntax. */
  readonly commands: readonly (readonly string[])[];
}

export interface Registration {
  /** Null for a client that is not registered; undefined if no event names a client, or PostgreSQL does not answer. */
  readonly client: ClientWithSecrets | null | undefined;
  readonly scopes: readonly string[] | null;
}

/** Values for the placeholders in the guide's commands. */
type Values = Readonly<
  Partial<Record<'client_id' | 'grant_id' | 'user' | 'redirect_uri' | 'scope', string>> & {
    post_logout_redirect_uris?: readonly string[];
  }
>;

export function remediesOf(
  { remedies }: Pick<GuideEntry, 'remedies'>,
  event: AuditEvent,
  { client, scopes }: Registration,
  ids: Pick<Values, 'client_id' | 'grant_id' | 'user'>,
): Remedy[] {
  return remedies.map(([party, action, ...commands]) => {
    const changesClient = commands.some((command) => command.includes('{client_id}'));
    const review = changesClient ? reviewOf(event, client, scopes) : {};
    if (typeof review === 'string') return { party, action: review, commands: [] };
    const values = { ...ids, ...review };
    return { party, action, commands: commands.flatMap((command) => filled(command, values)) };
  });
}

/** @returns values for the commands, or a text to show instead */
function reviewOf(
  event: AuditEvent,
  client: ClientWithSecrets | null | undefined,
  scopes: readonly string[] | null,
): Values | string {
  if (client === undefined)
    return 'The registration of the application is unknown here, so that no change can be suggested.';
  if (client === null) return 'The application is not registered (any longer), and cannot be changed.';
  return REVIEWS.get(event.check)?.(client, event.detail ?? {}, scopes) ?? {};
}

type Review = (
  client: ClientWithSecrets,
  detail: NonNullable<AuditEvent['detail']>,
  scopes: readonly string[] | null,
) => Values | string;

const REVIEWS: ReadonlyMap<string | undefined, Review> = new Map<string, Review>([
  ['redirect_uri_unregistered', redirectUri],
  ['scope_unregistered', (client, { requested }, scopes) => scope(client, textsOf(requested), scopes)],
  ['scope_insufficient', (client, { expected }, scopes) => scope(client, textsOf(expected), scopes)],
  ['post_logout_redirect_uri_unregistered', postLogoutRedirectUri],
  [
    'push_required',
    ({ requirePar, profile }) => {
      if (profile === 'fapi2')
        return 'The application is registered for FAPI 2.0, which requires this (5.3.2.2): nothing to change here.';
      return requirePar ? {} : 'The service requires this of every application: `REQUIRE_PAR`.';
    },
  ],
  [
    'state_missing',
    ({ requireState }) => (requireState ? {} : 'It is optional for the application now: repeat the request.'),
  ],
  [
    'code_challenge_invalid',
    ({ requireState }) => (requireState ? 'The application must send a `state` already.' : {}),
  ],
  ['client_disabled', enabled],
]);

function redirectUri(client: ClientWithSecrets, { redirect_uri: uri }: Readonly<Record<string, unknown>>) {
  if (typeof uri !== 'string') return 'The request has no redirect_uri that could be registered.';
  if (isRegistered(uri, client)) return 'It is registered now: repeat the request.';
  const problem = registrationProblem(uri, client);
  if (problem !== null) return `It cannot be registered: it ${redirectUriText(problem, uri)}.`;
  if (client.redirectUris.length >= MAX_REDIRECT_URIS)
    return `The application has ${MAX_REDIRECT_URIS} redirect URIs, which is the limit: remove one before you add another.`;
  return { redirect_uri: uri };
}

function postLogoutRedirectUri(
  client: ClientWithSecrets,
  { post_logout_redirect_uri: uri }: Readonly<Record<string, unknown>>,
) {
  const registered = client.postLogoutRedirectUris;
  if (typeof uri !== 'string') return 'The request has no address that could be registered.';
  if (registered.includes(uri)) return 'It is registered now: repeat the request.';
  const problem = registrationProblem(uri, client);
  if (problem !== null) return `It cannot be registered: it ${redirectUriText(problem, uri)}.`;
  if (registered.length >= MAX_REDIRECT_URIS)
    return `The application has ${MAX_REDIRECT_URIS} such addresses, which is the limit.`;
  // `client update` replaces the whole list.
  const options = [...registered, uri].flatMap((address) => ['--post-logout-redirect-uri', address]);
  return { post_logout_redirect_uris: options };
}

function scope(client: ClientWithSecrets, requested: readonly string[], scopes: readonly string[] | null) {
  const missing = requested.filter((name) => !client.scopes.includes(name));
  if (missing.length === 0)
    return 'The application is registered for all of them now. The user has to allow it again.';
  const own = missing.filter(isAdminScope);
  if (client.grantType === 'client_credentials')
    return own.length > 0 ? { scope: own.join(' ') } : `It may have only ${ADMIN_SCOPES.join(', ')}.`;
  const known = missing.filter((name) => scopes?.includes(name) ?? true);
  if (known.length === 0)
    return `No scope can be added: ${missing.join(' ')} is not declared in \`SCOPES_FILE\`.`;
  return { scope: known.join(' ') };
}

function enabled({ disabledAt }: ClientWithSecrets) {
  return disabledAt === null ? 'It is enabled now: repeat the request.' : {};
}

/** @returns an empty list if a value is missing */
function filled(command: string, values: Values): string[][] {
  const words = command.split(' ').flatMap((word) => {
    const [, name] = /^\{(\w+)\}$/.exec(word) ?? [];
    return name === undefined ? [word] : values[name as keyof Values];
  });
  return words.every((word) => word !== undefined) ? [words] : [];
}
