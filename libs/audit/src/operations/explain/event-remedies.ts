import type { AuditEvent } from '../../event.js';
import type { ClientWithSecrets } from '#clients/client.js';
import type { GuideEntry, Party } from '#error-guide/guide-entry.js';
import { ADMIN_SCOPES, isAdminScope } from '#oauth/client-credentials.js';
import { isRegistered, registrationProblem } from '#oauth/redirect-uri.js';
import { MAX_REDIRECT_URIS } from '#clients/registration/client-metadata.js';
import { redirectUriText } from '#error-guide/protocol-texts.js';
import { describeReview, type Review as Found, type Reviews } from '#error-guide/reviews.js';
import { textsOf } from './comparison.js';

type KnownClient = Omit<ClientWithSecrets, 'secrets'>;

export interface EventRemedy {
  readonly party: Party;
  readonly action: string;
  /** Commands as lists of words, because values of an attacker's request may contain shell syntax. */
  readonly commands: readonly (readonly string[])[];
}

export interface Registration {
  /** Null for a client that is not registered; undefined if no event names a client, or PostgreSQL does not answer. */
  readonly client: KnownClient | null | undefined;
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
): EventRemedy[] {
  return remedies.map(([party, action, ...commands]) => {
    const changesClient = commands.some((command) => command.includes('{client_id}'));
    const review = changesClient ? reviewOf(event, client, scopes) : {};
    if (isFound(review)) return { party, action: describeReview(review), commands: [] };
    const values = { ...ids, ...review };
    return { party, action, commands: commands.flatMap((command) => filled(command, values)) };
  });
}

type Result = Values | Found;

const isFound = (result: Result): result is Found => 'review' in result;

function found<Id extends keyof Reviews>(
  review: Id,
  ...[values]: Reviews[Id] extends null ? [] : [values: Reviews[Id]]
): Found {
  return { review, values: values ?? null };
}

/** @returns values for the commands, or a state that needs no command */
function reviewOf(
  event: AuditEvent,
  client: KnownClient | null | undefined,
  scopes: readonly string[] | null,
): Result {
  if (client === undefined) return found('registration_unknown');
  if (client === null) return found('not_registered');
  return REVIEWS.get(event.check)?.(client, event.detail ?? {}, scopes) ?? {};
}

type Review = (
  client: KnownClient,
  detail: NonNullable<AuditEvent['detail']>,
  scopes: readonly string[] | null,
) => Result;

const REVIEWS: ReadonlyMap<string | undefined, Review> = new Map<string, Review>([
  ['redirect_uri_unregistered', redirectUri],
  ['scope_unregistered', (client, { requested }, scopes) => scope(client, textsOf(requested), scopes)],
  ['scope_insufficient', (client, { expected }, scopes) => scope(client, textsOf(expected), scopes)],
  ['post_logout_redirect_uri_unregistered', postLogoutRedirectUri],
  [
    'push_required',
    ({ requirePar, profile }) => {
      if (profile === 'fapi2') return found('fapi_requires_push');
      return requirePar ? {} : found('service_requires_push');
    },
  ],
  ['state_missing', ({ requireState }) => (requireState ? {} : found('state_optional'))],
  ['code_challenge_invalid', ({ requireState }) => (requireState ? found('state_required') : {})],
  ['client_disabled', enabled],
]);

function redirectUri(client: KnownClient, { redirect_uri: uri }: Readonly<Record<string, unknown>>): Result {
  if (typeof uri !== 'string') return found('redirect_uri_missing');
  if (isRegistered(uri, client)) return found('address_registered');
  const problem = registrationProblem(uri, client);
  if (problem !== null) return found('address_not_registrable', { problem: redirectUriText(problem, uri) });
  if (client.redirectUris.length >= MAX_REDIRECT_URIS)
    return found('too_many_redirect_uris', { max: MAX_REDIRECT_URIS });
  return { redirect_uri: uri };
}

function postLogoutRedirectUri(
  client: KnownClient,
  { post_logout_redirect_uri: uri }: Readonly<Record<string, unknown>>,
): Result {
  const registered = client.postLogoutRedirectUris;
  if (typeof uri !== 'string') return found('address_missing');
  if (registered.includes(uri)) return found('address_registered');
  const problem = registrationProblem(uri, client);
  if (problem !== null) return found('address_not_registrable', { problem: redirectUriText(problem, uri) });
  if (registered.length >= MAX_REDIRECT_URIS) return found('too_many_addresses', { max: MAX_REDIRECT_URIS });
  // The command replaces the whole list.
  return { post_logout_redirect_uris: [...registered, uri] };
}

function scope(client: KnownClient, requested: readonly string[], scopes: readonly string[] | null): Result {
  const missing = requested.filter((name) => !client.scopes.includes(name));
  if (missing.length === 0) return found('scopes_registered');
  const own = missing.filter(isAdminScope);
  if (client.grantType === 'client_credentials')
    return own.length > 0 ? { scope: own.join(' ') } : found('scopes_of_api', { scopes: ADMIN_SCOPES });
  const known = missing.filter((name) => scopes?.includes(name) ?? true);
  if (known.length === 0) return found('scopes_undeclared', { scopes: missing });
  return { scope: known.join(' ') };
}

function enabled({ disabledAt }: KnownClient): Result {
  return disabledAt === null ? found('enabled') : {};
}

/** Repeats the word before the values of a list, which is their option. @returns an empty list if a value is missing */
function filled(command: string, values: Values): string[][] {
  const words: string[] = [];
  for (const word of command.split(' ')) {
    const [, name] = /^\{(\w+)\}$/.exec(word) ?? [];
    const value = name === undefined ? word : values[name as keyof Values];
    if (value === undefined) return [];
    const option = typeof value === 'string' ? null : words.pop();
    words.push(...[value].flat().flatMap((each) => (option ? [option, each] : [each])));
  }
  return [words];
}
