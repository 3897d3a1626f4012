import type { Next } from '#platform/validation/problem.js';

/** Text, or commands, each with an introduction. */
export type RemedyText = string | readonly Next[];

const step = (text: string, ...command: readonly string[]): readonly [Next] => [{ text, command }];

interface RedirectUri {
  readonly clientId: string;
  readonly uri: string;
  readonly isOnly: boolean;
}

interface Secret {
  readonly clientId: string;
  readonly secretId: string;
}

/** Does not suggest removing the only redirect URI, because most clients need one. */
const withoutUri = (text: string, { clientId, uri, isOnly }: RedirectUri): RemedyText =>
  isOnly
    ? `${text}: replace it, because an application needs a redirect URI`
    : step(text, 'client', 'update', clientId, '--remove-redirect-uri', uri);
const replaced = (uri: RedirectUri) => withoutUri('register the right address, and remove this one', uri);

const SAME_KEYS =
  'give authorize and token the same TOKEN_KEYS, and restart the processes that have another value';
const FORWARD_HEADERS = 'configure the proxy to forward the app’s headers unchanged';
const SYNCHRONOUS = 'ALTER SYSTEM SET synchronous_commit = on, then SELECT pg_reload_conf()';
const NATS_CONFIGURATION = 'k8s/overlays/local/nats/nats.conf';

/** Remedies of a check, or of one of its variants (`check.variant`), by the values that their texts need. */
const REMEDIES = {
  'not-examined': () => 'fix this, then run doctor again',
  'not-examined.repeated': () => 'as for those above',

  'address-unencrypted': ({ variable }: { readonly variable: string }) =>
    `serve it over TLS, and set ${variable} to its https address in every app: docs/deploy.md`,
  'address-loopback': () => 'nothing to do on a developer’s machine',
  'address-shared': () => 'give each its own host name, such as auth.example.com and api.example.com',
  'address-unreachable': () =>
    'check DNS, the ingress and its certificate, and that this machine may connect to it',
  'address-http': () => 'redirect http to https at the ingress, or close port 80',
  'path-not-routed': ({ app }: { readonly app: string }) =>
    `route this path to the ${app} app, as the manifests of k8s/ do`,
  'metadata-wrong': () => 'give AUTH_URL, BASE_URL and API_URL the same values in every app and here',
  'metadata-wrong.missing': () => 'route this path to the app, as the manifests of k8s/ do',
  'metadata-weak': () =>
    'another server, or a proxy that changes responses, is at this address: the token app never sends this',
  'api-open': () => 'the resource app must be at API_URL, and answer itself',
  'api-open.header': () => 'configure the proxy to forward WWW-Authenticate',
  'internal-port-public': () => 'route the public address to PORT, and do not expose INTERNAL_PORT',

  'cookie-weak': () => 'no proxy may change Set-Cookie',
  'cookie-weak.https': () =>
    'AUTH_URL of the authorize app must be the https address, and no proxy may change Set-Cookie',
  'header-hsts': () => FORWARD_HEADERS,
  'header-framing': () => 'configure the proxy to forward the app’s Content-Security-Policy unchanged',
  'header-nosniff': () => FORWARD_HEADERS,
  'header-referrer': () => FORWARD_HEADERS,
  'header-cache': () => FORWARD_HEADERS,
  'authorize-cors': () => 'remove CORS headers for AUTH_URL from the proxy: the app sends none',

  'certificate-expired': () => 'renew it now, and find out why its renewal failed',
  'certificate-expires': () => 'renew it, and find out why its renewal failed',
  'certificate-untrusted': () =>
    'use a certificate from a public authority, with its intermediate certificates',
  'tls-outdated': () => 'allow TLS 1.2 and 1.3 only',

  'process-missing': ({ service }: { readonly service: string }) =>
    `start it; if it runs, its NATS user must subscribe to oauth.service.status.${service}, and publish to _INBOX.operator.status.${service}.*`,
  'process-not-ready': () =>
    'restore what is missing; if other processes of the app have it, compare the Secrets, the node and the network policies of this one',
  'process-single': () => 'run two replicas or more: docs/reliability.md',
  'versions-differ': () =>
    'finish the rollout, or roll back: consecutive versions work together, others may not',
  'settings-differ': () =>
    'set the right value everywhere, and restart the processes that have another value',
  'not-production': () => 'set NODE_ENV=production',
  'clock-wrong': () => 'synchronize both with NTP',
  'clock-drifts': () => 'synchronize both with NTP',
  'access-token-long': ({ most }: { readonly most: number }) => `set it to ${most} or less`,
  'code-long': ({ most }: { readonly most: number }) => `set it to ${most} or less`,
  'retry-window-long': ({ most }: { readonly most: number }) => `set it to ${most} or less`,

  'keys-silent': ({ app }: { readonly app: string }) =>
    `start ${app}; if it runs, its NATS user must be allowed to subscribe to oauth.service.status.${app}`,
  'key-unknown': () => SAME_KEYS,
  'keys-differ': () => 'finish the restart of all processes before the next step of a rotation',
  'keys-differ.signing': () => `if no rotation is being rolled out, ${SAME_KEYS}`,
  'key-removed-early': () =>
    'put the key back at the end of TOKEN_KEYS, unless you removed it because it leaked',
  'key-removed-early.id_token': () =>
    'append the key to ID_TOKEN_KEYS again, unless you removed it because it leaked',
  'key-old': () => step('begin a rotation', 'keys', 'next'),
  'key-unneeded': () => step('this prints TOKEN_KEYS without it', 'keys', 'next'),
  'id-token-keys-differ': () =>
    'set ID_TOKEN_KEYS to the private keys for token and to their public keys for authorize, and restart the processes that have other keys',

  'migrations-missing': () => step('apply them', 'migrate'),
  'database-not-durable': () => SYNCHRONOUS,
  'database-not-durable.override': ({
    role,
    database,
  }: {
    readonly role: string | null;
    readonly database: string | null;
  }) => {
    const inDatabase = database === null ? '' : ` IN DATABASE ${database}`;
    const subject = role === null ? `DATABASE ${database}` : `ROLE ${role}${inDatabase}`;
    return `ALTER ${subject} RESET synchronous_commit`;
  },
  'database-not-durable.fsync': () => 'set fsync = on and restart PostgreSQL',
  'database-not-durable.pages': () => 'ALTER SYSTEM SET full_page_writes = on, then SELECT pg_reload_conf()',
  'database-unencrypted': () =>
    'turn on TLS in PostgreSQL (ssl = on), and add ?sslmode=verify-full to DATABASE_URL of every app',
  'rights-missing': ({ server }: { readonly server: string }) => remedyOfRights(server),
  'rights-excessive': ({ server }: { readonly server: string }) => remedyOfRights(server),
  'database-superuser': () => 'create a role that only owns the schema, and set it in DATABASE_URL',
  'database-connections': () => 'raise max_connections, or use fewer replicas: docs/sizing.md',

  'redis-evicts': () => 'CONFIG SET maxmemory-policy noeviction, in redis.conf too; alert on memory instead',
  'redis-write-failed': () => 'free disk space, and read the log of Redis',
  'redis-not-replayed': () =>
    'ACL SETUSER default off resetpass ~* &* +@all, in the ACL file too; nobody can log in as this user',
  'redis-no-primary': () => 'REDIS_URL must name the primary, the Sentinels or the Cluster',
  'redis-not-persistent': () => 'CONFIG SET appendonly yes, in redis.conf too',
  'redis-no-replica': () => 'add one, with Sentinels or as a Cluster: docs/reliability.md',

  'nats-anonymous': () => `give each app a user with a password and the permissions of ${NATS_CONFIGURATION}`,
  'nats-permissions': () => `give it the permissions of the user operator in ${NATS_CONFIGURATION}`,
  'nats-unencrypted': () => 'turn on TLS in NATS, and use tls:// in NATS_URL of every app',
  'audit-stream-missing': () =>
    'turn on JetStream, and run migrate, with the administrator of the trail in AUDIT_NATS_URL: docs/audit.md',
  'audit-shared-account': () =>
    `give the trail the accounts and users of ${NATS_CONFIGURATION}, and set AUDIT_NATS_URL`,
  'audit-deletable': () => `permit it only the $JS.API subjects of ${NATS_CONFIGURATION}`,
  'audit-stream-differs': () =>
    'run migrate, with the administrator of the trail in AUDIT_NATS_URL and the AUDIT_… variables that this command has: docs/audit.md',
  'audit-stream-full': () => 'allow it more space, or export and keep it elsewhere: docs/audit.md',
  'audit-single-copy': () => 'run a NATS cluster of three, and set the number of copies: docs/audit.md',
  'audit-dropped': () =>
    'find out why NATS rejected them: the process logs the error once a minute; its log still has the requests',
  'audit-waiting': () => 'restore JetStream: events are lost when the buffer is full or the process ends',

  'logout-tokens-failed': ({ clientId }: { readonly clientId: string }) =>
    step('tell its owner what failed', 'explain', '--client', clientId, '--since', '1d'),

  'event-stream-paused': ({ clientId }: { readonly clientId: string }) =>
    step('when its owner has repaired the receiver, or ends the pause', 'event', 'enable', clientId),
  'mail-unsendable': () => 'correct SMTP_URL of the token app, or repair the mail server: docs/developers.md',
  'mails-waiting': () =>
    'give the token app SMTP_URL and DEVELOPERS_URL, or let the product answer oauth.mail.send: docs/developers.md',
  'mails-given-up': () => 'find the cause in the log of the token app; the owners see the same on the portal',
  'event-receiver-failing': ({ clientId }: { readonly clientId: string }) =>
    step('tell its owner what failed', 'event', 'list', '--waiting', '--client', clientId),

  'redirect-uri-unencrypted': replaced,
  'redirect-uri-invalid': replaced,
  'redirect-uri-unresolvable': (uri: RedirectUri) =>
    withoutUri("ask the application's owner; if the address is no longer used", uri),
  'redirect-uri-loopback': (uri: RedirectUri) =>
    withoutUri('register a second application for development, and remove it here', uri),
  'redirect-uri-localhost': () => 'ask the developer to use 127.0.0.1, and register that',
  'client-without-secret': ({ clientId }: { readonly clientId: string }) => [
    ...step('if it is still in use', 'client', 'secret', 'rotate', clientId),
    ...step('otherwise', 'client', 'delete', clientId),
  ],
  'secret-expired': ({ clientId, secretId }: Secret) =>
    step('if the application uses another one', 'client', 'secret', 'revoke', clientId, secretId),
  'secret-expires': ({ clientId }: { readonly clientId: string }) =>
    step('when its owner can change it in the application', 'client', 'secret', 'rotate', clientId),
  'secret-rotation-open': ({ clientId, secretId }: Secret) =>
    step('when the application uses the new one', 'client', 'secret', 'revoke', clientId, secretId),
  'secret-never-used': ({ clientId, secretId }: Secret) => [
    ...step('find out where it is; if it is not needed', 'client', 'secret', 'revoke', clientId, secretId),
    ...step('if the application is not needed', 'client', 'delete', clientId),
  ],
  'secret-old': ({ clientId }: { readonly clientId: string }) =>
    step('create a new one, hand it over, then revoke the old one', 'client', 'secret', 'rotate', clientId),
  'client-scope-unknown': ({ clientId, scopes }: { readonly clientId: string; readonly scopes: string }) =>
    step('remove them', 'client', 'update', clientId, '--remove-scope', scopes),
  'client-scope-unknown.all': () => 'add one that is declared, and remove these in the same change',
  'openid-without-keys': ({ clientId }: { readonly clientId: string }) =>
    step(
      'set ID_TOKEN_KEYS (docs/configuration.md), or',
      'client',
      'update',
      clientId,
      '--remove-scope',
      'openid',
    ),
  'id-token-alg-without-key': ({
    clientId,
    alg,
    others: [other = ''],
  }: {
    readonly clientId: string;
    readonly alg: string;
    readonly others: readonly string[];
  }) =>
    step(`add a key for ${alg} to ID_TOKEN_KEYS, or`, 'client', 'update', clientId, '--id-token-alg', other),
  'client-document-unusable': ({ clientId }: { readonly clientId: string }) =>
    step('tell the publisher of the document; if the application is gone', 'client', 'disable', clientId),
  'client-credentials-off': ({ clientId }: { readonly clientId: string }) =>
    step('set CONSOLE_URL at the token app (docs/console.md), or', 'client', 'delete', clientId),
  'client-without-pkce': () =>
    'ask the developer to send code_challenge (S256) and code_verifier: docs/integrate.md',
  'client-public': () =>
    'nothing, if it runs on its users’ devices; a server-side application is registered without --public',
} satisfies Readonly<Record<string, (values: never) => RemedyText>>;

export type RemedyId = keyof typeof REMEDIES;

/** No values, or the values of the texts. */
export type RemedyValues<Id extends RemedyId> = Parameters<(typeof REMEDIES)[Id]>;

/** Remedy of a finding, in the words of the error guide. */
export interface Remedy {
  readonly id: RemedyId;
  readonly values?: object | undefined;
}

export function describeRemedy({ id, values }: Remedy): RemedyText {
  return (REMEDIES[id] as (given: object | undefined) => RemedyText)(values);
}

function remedyOfRights(server: string): string {
  return server === 'Redis'
    ? 'give the user the rules in deploy/settings.sh (ACL SETUSER, and in the ACL file too)'
    : 'let the process log in as docs/deploy.md says, and run migrate, which restores the rights';
}
