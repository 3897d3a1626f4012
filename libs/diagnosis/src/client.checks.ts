import { LEFT_OUT } from '#clients/documents/metadata-document.js';
import { quoted } from '#operations/wording.js';
import { redirectUriText } from '#error-guide/protocol-texts.js';
import { isLoopback, registrationProblem } from '#oauth/redirect-uri.js';
import type { EnabledClient } from '#clients/client.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { isAdminScope } from '#oauth/client-credentials.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';
import { algorithmOf } from '#clients/registration/openid-registration.js';
import { declareChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_CLIENT_CHECKS = declareChecks({
  'redirect-uri-unencrypted':
    'error: redirect URIs are https, or http on a loopback address [RFC 9700 2.6; RFC 6749 3.1.2.1; ASVS 5.0 12.2.1]',
  'redirect-uri-invalid':
    'error: redirect URIs are complete addresses without wildcard, fragment or user name [RFC 9700 2.1; RFC 6749 3.1.2; ASVS 5.0 10.4.1]',
  'redirect-uri-unresolvable':
    'warning: the hosts of redirect URIs exist: anyone who registers a free name receives the codes [RFC 9700 4.1; ASVS 5.0 10.4.1]',
  'redirect-uri-loopback':
    'warning: confidential clients have no loopback redirect URIs in production [RFC 9700 2.6]',
  'redirect-uri-localhost': 'info: native applications use 127.0.0.1 or [::1], not localhost [RFC 8252 8.3]',
  'client-without-secret': 'error: confidential clients can authenticate [RFC 6749 3.2.1; ASVS 5.0 10.4.10]',
  'secret-never-used': 'warning: secrets are used within 30 days [ASVS 5.0 13.3.4]',
  'secret-old': 'warning: secrets are replaced once a year [ASVS 5.0 13.3.4]',
  'secret-expired': 'warning: no secret has expired [ASVS 5.0 13.3.4]',
  'secret-expires': 'warning: secrets are valid for another 14 days [ASVS 5.0 13.3.4]',
  'secret-rotation-open': 'warning: the old secret is revoked within 30 days of a rotation [ASVS 5.0 13.3.4]',
  'client-scope-unknown':
    'warning: clients are registered for scopes that exist [RFC 9700 2.3; ASVS 5.0 10.4.11]',
  'openid-without-keys': 'warning: clients with the scope openid get ID tokens',
  'id-token-alg-without-key':
    'error: every token app has a key for the ID tokens of each client [OpenID Connect Core 10.1]',
  'client-document-unusable':
    'warning: the metadata documents of clients can be fetched, and describe them correctly [draft-ietf-oauth-client-id-metadata-document 5.1]',
  'client-credentials-off': 'warning: clients of client_credentials get access tokens [RFC 6749 4.4]',
  'client-without-pkce': 'warning: applications use PKCE [RFC 9700 2.1.1; ASVS 5.0 10.2.1; ASVS 5.0 10.4.6]',
  'client-public':
    'info: clients that can keep a secret are confidential; a public client relies on PKCE alone [RFC 9700 2.5; ASVS 5.0 10.4.5]',
});

const finding = findingOf(DOCTOR_CLIENT_CHECKS);

export interface ClientContext {
  readonly now: number;
  readonly scopes: readonly string[] | null;
  readonly unresolvable: ReadonlySet<string>;
  /** Algorithms that every token app can sign with; null if no token app reports its keys. */
  readonly idTokenAlgs: readonly string[] | null;
  /** True if a token app has no CONSOLE_URL. */
  readonly withoutConsole: boolean;
  /** Number of codes that each client redeemed without PKCE in the last week. */
  readonly withoutPkce: ReadonlyMap<string, number>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const UNUSED_DAYS = 30;
const OLD_DAYS = 365;
/** Day of the first reminder to the owners. */
const EXPIRING_DAYS = 14;

export function examineClient(client: EnabledClient, around: ClientContext): Finding[] {
  return [
    ...client.redirectUris.flatMap((uri) => redirectUri(client, uri, around.unresolvable)),
    ...secrets(client, around.now),
    ...scopes(client, around.scopes),
    ...idTokens(client, around.idTokenAlgs),
    ...metadataDocument(client),
    ...clientCredentials(client, around.withoutConsole),
    ...pkce(client, around.withoutPkce),
    ...publicClient(client),
  ];
}

/** Returns the host names that must exist in DNS, without IP addresses and loopback hosts. */
export function hostsToResolve(clients: readonly Pick<EnabledClient, 'redirectUris'>[]): string[] {
  const hosts = clients
    .flatMap(({ redirectUris }) => redirectUris)
    .map((uri) => (URL.canParse(uri) ? new URL(uri) : null))
    .filter((url) => url !== null && /^https?:$/.test(url.protocol))
    .map((url) => url?.hostname ?? '')
    .filter((host) => !isLoopback(host) && !host.startsWith('[') && !/^[\d.]+$/.test(host));
  return [...new Set(hosts)];
}

function redirectUri(client: EnabledClient, uri: string, unresolvable: ReadonlySet<string>): Finding[] {
  const subject = clientLabel(client);
  const values = { clientId: client.clientId, uri, isOnly: client.redirectUris.length === 1 };
  type UriCheck = 'unencrypted' | 'invalid' | 'unresolvable' | 'loopback';
  const wrong = (check: UriCheck, problem: string) =>
    finding(`redirect-uri-${check}`, subject, `${quoted(uri)}${problem}`, values);
  const url = URL.canParse(uri) ? new URL(uri) : null;
  const host = url?.hostname ?? '';
  const isHttp = url?.protocol === 'http:';
  if (isHttp && !isLoopback(host))
    return wrong('unencrypted', ' is http: codes cross the network unencrypted');
  const problem = registrationProblem(uri, client);
  if (problem !== null) return wrong('invalid', ` ${redirectUriText(problem, uri)}`);
  if (unresolvable.has(host)) return wrong('unresolvable', `: the host ${host} does not exist in DNS`);
  if (!isHttp) return [];
  if (client.type === 'confidential')
    return wrong('loopback', ' points to the user’s own machine: it is for development');
  if (host !== 'localhost') return [];
  return finding('redirect-uri-localhost', subject, `${quoted(uri)}: each machine resolves localhost itself`);
}

function secrets(client: EnabledClient, now: number): Finding[] {
  if (client.type === 'public' || hasKeys(client)) return [];
  const { clientId } = client;
  const live = client.secrets.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  const newest = live.at(-1);
  const problem = 'it has no live secret, and cannot get tokens';
  if (!newest) return finding('client-without-secret', clientLabel(client), problem, { clientId });
  return live.flatMap((secret) => secretFinding(client, secret, newest, now));
}

/** Returns only the first finding that applies to a secret. */
function secretFinding(
  client: EnabledClient,
  secret: EnabledClient['secrets'][number],
  newest: typeof secret,
  now: number,
): Finding[] {
  const { id, createdAt, lastUsedAt, expiresAt } = secret;
  const values = { clientId: client.clientId, secretId: id };
  type SecretCheck = 'expired' | 'expires' | 'rotation-open' | 'never-used' | 'old';
  const report = (check: SecretCheck, problem: string) =>
    finding(`secret-${check}`, clientLabel(client), `secret ${id} ${problem}`, values);
  const daysSince = (time: Date) => (now - time.getTime()) / DAY_MS;
  const age = Math.floor(daysSince(createdAt));
  const usage = lastUsedAt ? `last used ${lastUsedAt.toISOString().slice(0, 10)}` : 'never used';
  if (client.stage === 'live' && expiresAt !== null) {
    const expiry = `${expiresAt.toISOString()} (${usage})`;
    if (daysSince(expiresAt) >= 0) return report('expired', `expired at ${expiry}`);
    if (daysSince(expiresAt) >= -EXPIRING_DAYS) return report('expires', `expires at ${expiry}`);
  }
  const sinceSuccessor = daysSince(newest.createdAt);
  if (secret !== newest && sinceSuccessor > UNUSED_DAYS)
    return report(
      'rotation-open',
      `is live ${Math.floor(sinceSuccessor)} days after its successor was created (${usage})`,
    );
  if (lastUsedAt === null && age > UNUSED_DAYS)
    return report('never-used', `is ${age} days old, and was never used`);
  return age > OLD_DAYS ? report('old', `is ${age} days old (${usage})`) : [];
}

function scopes(client: EnabledClient, known: readonly string[] | null): Finding[] {
  const unknown =
    known === null ? [] : client.scopes.filter((scope) => !known.includes(scope) && !isAdminScope(scope));
  if (unknown.length === 0) return [];
  const problem = `it is registered for ${unknown.map(quoted).join(', ')}, which SCOPES_FILE does not declare`;
  return unknown.length === client.scopes.length
    ? finding('client-scope-unknown.all', clientLabel(client), problem)
    : finding('client-scope-unknown', clientLabel(client), problem, {
        clientId: client.clientId,
        scopes: unknown.join(' '),
      });
}

function idTokens(client: EnabledClient, algs: readonly string[] | null): Finding[] {
  const alg = algorithmOf(client);
  if (algs === null || !client.scopes.includes(OPENID) || algs.includes(alg)) return [];
  const subject = clientLabel(client);
  if (algs.length === 0)
    return finding(
      'openid-without-keys',
      subject,
      'it is registered for openid, and no token app has ID_TOKEN_KEYS: it gets no ID token',
      { clientId: client.clientId },
    );
  return finding(
    'id-token-alg-without-key',
    subject,
    `its ID tokens are to be signed with ${alg}, and the token apps have keys for ${algs.join(', ')}: its code exchanges fail`,
    { clientId: client.clientId, alg, others: algs },
  );
}

function metadataDocument(client: EnabledClient): Finding[] {
  const { documentProblem: problem } = client;
  if (problem === null) return [];
  return finding(
    'client-document-unusable',
    clientLabel(client),
    problem.startsWith(LEFT_OUT)
      ? `a part of its metadata document cannot be used, and is ${problem}`
      : `its metadata document cannot be used, and its last description still counts: ${problem}`,
    { clientId: client.clientId },
  );
}

function clientCredentials(client: EnabledClient, withoutConsole: boolean): Finding[] {
  if (client.grantType !== 'client_credentials' || !withoutConsole) return [];
  return finding(
    'client-credentials-off',
    clientLabel(client),
    'it is registered for the HTTP API of the console, and a token app has no CONSOLE_URL: it gets no access token',
    { clientId: client.clientId },
  );
}

function pkce(client: EnabledClient, withoutPkce: ReadonlyMap<string, number>): Finding[] {
  const count = withoutPkce.get(client.clientId);
  if (count === undefined) return [];
  return finding(
    'client-without-pkce',
    clientLabel(client),
    `it redeemed ${count === 1 ? 'a code' : `${count} codes`} without PKCE in the last week`,
  );
}

function publicClient(client: EnabledClient): Finding[] {
  if (client.type === 'confidential') return [];
  return finding(
    'client-public',
    clientLabel(client),
    'it is a public client: anyone can send requests in its name',
  );
}

const clientLabel = ({ clientId, name }: EnabledClient): Pick<Finding, 'subject' | 'clientId'> => ({
  subject: `${clientId} ${quoted(name)}`,
  clientId,
});
