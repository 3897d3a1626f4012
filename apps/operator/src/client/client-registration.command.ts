import { open } from 'node:fs/promises';
import { MAX_JWKS } from '#oauth/client-assertion/client-keys.js';
import { LOGO_LIMITS, MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import type { ClientView } from '#clients/operations/client.description.js';
import type { ClientChanges, NewClientInput } from '#clients/operations/client.dto.js';
import type { UpdatedClient } from '#clients/operations/client.service.js';
import type { Change } from '#operations/audit-trail.js';
import { choice, fieldOfOption, withNone } from '../command-line/flags.js';
import { actor, confirmedChange, printChange } from '../command-line/change.js';
import { collect, collectScopes, OperatorCommand } from '../command-line/operator-command.js';
import { asText, type JsonOption, printFields, printLine, printResult } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import { ChangeSettings, RegistrationSettings } from '../settings/settings.js';
import { CLIENT, clientText } from './client-lookup.command.js';
import {
  changeReceiver,
  finishReceiver,
  readReceiver,
  type ReceiverOptions,
  streamText,
  withReceiverOptions,
  withStream,
} from './receiver.js';

/** Paths of files; `none` removes the registered value. */
export interface FileOptions {
  readonly logo?: string | undefined;
  readonly jwks?: string | undefined;
  readonly addKey?: string | undefined;
}

export interface GivenFiles {
  readonly logo?: Buffer | null;
  readonly jwks?: string | null;
  readonly addKeys?: string;
}

/** Treats an unreadable file as empty. The operation reports an empty file together with all other problems. */
export async function readGivenFiles({ logo, jwks, addKey }: FileOptions): Promise<GivenFiles> {
  const image = await readGiven(logo, MAX_LOGO_BYTES);
  // UTF-8 encodes a character in at most four bytes.
  const keys = await readGiven(jwks, 4 * MAX_JWKS);
  const added = await readGiven(addKey, 4 * MAX_JWKS);
  return {
    ...(image !== undefined && { logo: image }),
    ...(keys !== undefined && { jwks: keys && keys.toString() }),
    ...(added !== undefined && { addKeys: added?.toString() ?? '' }),
  };
}

async function readGiven(file: string | undefined, limit: number): Promise<Buffer | null | undefined> {
  if (file === undefined) return undefined;
  return file === 'none' ? null : readFirst(file, limit + 1).catch(() => Buffer.alloc(0));
}

/** Reads at most `bytes`, so that a huge file or a device cannot exhaust memory. */
async function readFirst(file: string, bytes: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

const BOOLEAN = { true: true, false: false };
const STATE = { required: true, optional: false };
const GRANT = { device: true, code: false };
const ROTATION = { on: true, off: false };

export function registerCommand(): OperatorCommand {
  return withReceiverOptions(new OperatorCommand('create'))
    .description('register an application and print its credentials and endpoints')
    .option('--name <name>', 'name that users see on the consent page')
    .option('--redirect-uri <uri>', 'callback address; may be repeated', collect)
    .option(
      '--private-scheme <scheme>',
      'with --public: allow this URI scheme, such as cursor, for a callback that the vendor has fixed; any program on a device can register the same scheme; may be repeated',
      collect,
    )
    .option(
      '--scope <scopes>',
      'scopes that it may request, separated by spaces (default: the default scopes)',
      collectScopes,
    )
    .option(
      '--optional-scope <scopes>',
      'scopes that users opt in to with a checkbox, separated by spaces (default: none)',
      collectScopes,
    )
    .option('--logo <file>', `PNG, JPEG or WebP, ${LOGO_LIMITS}, shown to users`)
    .option('--client-uri <url>', 'its home page, which users see')
    .option('--policy-uri <url>', 'its privacy policy, which users see')
    .option(
      '--contacts <contacts>',
      'email addresses or URLs at which users reach its developer, separated by spaces',
      collectWords,
    )
    .option(
      '--post-logout-redirect-uri <uri>',
      'address to which users may return after a log-out (OpenID Connect); may be repeated',
      collect,
    )
    .option('--backchannel-logout-uri <url>', 'address that gets a logout token when a user logs out')
    .option(
      '--jwks <file>',
      'JWK Set with its public keys: it authenticates with signed assertions (private_key_jwt, RFC 7523) instead of a secret',
    )
    .option('--jwks-uri <url>', 'https address of its JWK Set, fetched when needed')
    .option(
      '--profile <fapi2>',
      'FAPI 2.0 Security Profile: requires keys, PAR, PKCE and DPoP; refresh tokens do not rotate, state is optional',
    )
    .option('--dpop-bound', 'refuse token requests without a DPoP proof (RFC 9449 5.2)')
    .option(
      '--refresh-token-rotation <on|off>',
      'off, with --dpop-bound: the refresh token stays the same (default: on)',
      choice('--refresh-token-rotation', ROTATION),
    )
    .option(
      '--grant-type <type>',
      'client_credentials: an API client of the console, with keys and --scope admin:read, admin:write or admin:operators (default: authorization_code)',
    )
    .option(
      '--grant <code|device>',
      'device: allow the device authorization grant (RFC 8628) as well; no redirect URI is needed (default: code)',
      choice('--grant', GRANT),
    )
    .option(
      '--metadata-url <url>',
      'https address of its metadata document, which becomes the client_id; combines only with --scope and --optional-scope',
    )
    .option('--public', 'a phone, desktop or browser application: no secret, PKCE required')
    .option('--require-par', 'refuse authorization requests that the application did not push (RFC 9126)')
    .option(
      '--state <required|optional>',
      'optional: authorization requests may omit state, but must use PKCE (default: required)',
      choice('--state', STATE),
    )
    .option('--first-party', 'a first-party application: users are not asked for consent')
    .option('--developer-portal', 'the developer portal of this installation, where owners log in')
    .option(
      '--id-token-alg <RS256|ES256|EdDSA>',
      'algorithm that signs its ID tokens (default: RS256; with --profile fapi2 ES256)',
    )
    .option(
      '--subject <public|pairwise>',
      'pairwise: it gets a different sub for each user than applications at other hosts (default: public)',
    )
    .jsonOption()
    .notes(
      `\
A redirect URI is https, or http on localhost, 127.0.0.1 or [::1]; for a public client also com.example.app:/callback. \
It is compared character by character, except for the port of a public client's localhost, 127.0.0.1 or [::1]. The \
secret is shown only once. Keys replace the secret: public keys only, for ES256, PS256, RS256 or EdDSA, at most 10. The command "scope list" shows the scopes.`,
    )
    .examples(
      'client create --name "Calendar Connect" --redirect-uri https://app.example.com/callback',
      'client create --name Phone --redirect-uri com.example.app:/callback --public --json',
      'client create --name Cursor --public --private-scheme cursor \\\n' +
        '      --redirect-uri cursor://anysphere.cursor-mcp/oauth/callback',
      'client create --name Bookings --redirect-uri https://app.example.com/callback \\\n' +
        '      --scope "profile:read bookings:read" --optional-scope bookings:read --logo bookings.png \\\n' +
        '      --client-uri https://app.example.com/ --policy-uri https://app.example.com/privacy --contacts support@example.com',
      'client create --name "Room display" --grant device --public',
      'client create --metadata-url https://app.example.com/client.json --scope profile:read',
      'client create --name Terraform --grant-type client_credentials --jwks jwks.json --scope "admin:read admin:write"',
    )
    .action(create);
}

export function updateCommand(): OperatorCommand {
  return withReceiverOptions(new OperatorCommand('update'))
    .argument('<id>', CLIENT)
    .description('change the registration of an application')
    .option('--name <name>', 'name that users see on the consent page')
    .option(
      '--scope <scopes>',
      'scopes that it may request, separated by spaces; replaces the registered scopes',
      collectScopes,
    )
    .option('--add-scope <scopes>', 'scopes to add', collectScopes)
    .option('--remove-scope <scopes>', 'scopes to remove', collectScopes)
    .option(
      '--optional-scope <scopes>',
      'scopes that users opt in to with a checkbox; replaces the registered scopes; none removes all',
      collectScopesOrNone,
    )
    .option(
      '--require-par <true|false>',
      'true: refuse authorization requests that the application did not push (RFC 9126)',
      choice('--require-par', BOOLEAN),
    )
    .option(
      '--state <required|optional>',
      'optional: authorization requests may omit state, but must use PKCE (RFC 9700 2.1)',
      choice('--state', STATE),
    )
    .option(
      '--first-party <true|false>',
      'true: a first-party application: users are not asked for consent',
      choice('--first-party', BOOLEAN),
    )
    .option(
      '--developer-portal <true|false>',
      'true: the developer portal of this installation, where owners log in',
      choice('--developer-portal', BOOLEAN),
    )
    .option(
      '--grant <code|device>',
      'device: allow the device authorization grant (RFC 8628)',
      choice('--grant', GRANT),
    )
    .option('--id-token-alg <RS256|ES256|EdDSA>', 'algorithm that signs its ID tokens')
    .option(
      '--subject <public|pairwise>',
      'pairwise: it gets a different sub for each user than applications at other hosts; after a change, it sees every user as new',
    )
    .option(
      '--yes',
      'change the subject, or the application with which operators log in to the console, without confirmation',
    )
    .option('--client-uri <url>', 'its home page, which users see; none removes it')
    .option('--policy-uri <url>', 'its privacy policy, which users see; none removes it')
    .option(
      '--contacts <contacts>',
      'email addresses or URLs at which users reach its developer, separated by spaces; replaces the registered contacts; none removes all',
      collectWordsOrNone,
    )
    .option(
      '--post-logout-redirect-uri <uri>',
      'address to which users may return after a log-out; replaces the registered addresses; may be repeated; none removes all',
      collectOrNone,
    )
    .option(
      '--backchannel-logout-uri <url>',
      'address that gets a logout token when a user logs out; none removes it',
    )
    .option('--logo <file>', `PNG, JPEG or WebP, ${LOGO_LIMITS}; none removes it`)
    .option('--jwks <file>', 'JWK Set with its public keys; replaces the registered keys; none removes them')
    .option('--jwks-uri <url>', 'https address of its JWK Set; replaces the registered keys; none removes it')
    .option('--add-key <file>', 'JWK, or JWK Set, to add to the registered public keys')
    .option('--remove-key <key>', 'kid or thumbprint of a key to remove; may be repeated', collect)
    .option(
      '--dpop-bound <true|false>',
      'true: refuse token requests without a DPoP proof (RFC 9449 5.2)',
      choice('--dpop-bound', BOOLEAN),
    )
    .option(
      '--refresh-token-rotation <on|off>',
      'off, for DPoP-bound clients only: the refresh token stays the same',
      choice('--refresh-token-rotation', ROTATION),
    )
    .option('--add-redirect-uri <uri>', 'redirect URI to add; may be repeated', collect)
    .option('--remove-redirect-uri <uri>', 'redirect URI to remove; may be repeated', collect)
    .option(
      '--private-scheme <scheme>',
      'URI scheme to allow, such as cursor; replaces the registered schemes; may be repeated; none removes all',
      collectOrNone,
    )
    .jsonOption()
    .notes('What users have granted stays granted, even for scopes that are no longer registered.')
    .examples(
      'client update sc_abcdefghijklmnopqrstuvwx --logo logo.png --optional-scope bookings:read',
      'client update sc_abcdefghijklmnopqrstuvwx --add-scope bookings:read',
      'client update sc_abcdefghijklmnopqrstuvwx \\\n' +
        '      --add-redirect-uri https://new.example.com/callback --remove-redirect-uri https://old.example.com/callback',
    )
    .action(update);
}

function collectScopesOrNone(value: string, previous: readonly string[] = []): readonly string[] {
  return value === 'none' ? previous : collectScopes(value, previous);
}

function collectOrNone(value: string, previous: readonly string[] = []): readonly string[] {
  return value === 'none' ? previous : collect(value, previous);
}

function collectWords(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(/\s+/).filter((word) => word !== '')];
}

function collectWordsOrNone(value: string, previous: readonly string[] = []): readonly string[] {
  return value === 'none' ? previous : collectWords(value, previous);
}

/** Options that need more than a change of their name. */
interface RegistrationOptions extends JsonOption, FileOptions, ReceiverOptions {
  readonly backchannelLogoutUri?: string;
  readonly clientUri?: string;
  readonly policyUri?: string;
  readonly jwksUri?: string;
  readonly public?: boolean;
}

async function create({ json, ...options }: RegistrationOptions & { name?: string }): Promise<void> {
  const [input, receiver] = [await inputOf(options), await readReceiver(options)];
  const { change, stream } = await withAdministration(RegistrationSettings, async ({ clients, streams }) => {
    if (receiver) streams.check(receiver);
    const created = await clients.create(actor(), input);
    return { change: created, stream: await changeReceiver(streams, created.result.client_id, receiver) };
  });
  await printChange(change, (registered) => {
    const { client_secret: secret } = registered;
    printResult({ json }, withStream(registered, stream), () => {
      printLine(
        `Registered ${JSON.stringify(options.name ?? registered.client_id)}. Hand these to the owner of the application:\n`,
      );
      const none = registered.auth_method ? 'it signs assertions' : 'a public client uses PKCE (S256)';
      printFields({
        ...asText({ ...registered, client_secret: secret ?? `none: ${none}` }),
        ...streamText(stream),
      });
      if (secret) printLine('\nThe client secret is shown only once: the service stores its hash.');
    });
  });
  await finishReceiver(stream, change.result.client_id);
}

async function update(
  idOrName: string,
  { json, yes = false, ...options }: RegistrationOptions & { yes?: boolean },
): Promise<void> {
  const [input, receiver] = [await inputOf(options), await readReceiver(options)];
  const isOnlyReceiver = receiver !== undefined && Object.values(input).every((value) => value === undefined);
  const { change, stream } = await withAdministration(ChangeSettings, async ({ clients, streams }) => {
    if (receiver) streams.check(receiver);
    const updated = isOnlyReceiver
      ? unchanged(await clients.find(idOrName))
      : await confirmedChange(yes, (isConfirmed) => {
          const confirmations = { confirmNewSubjects: isConfirmed, confirmConsole: isConfirmed };
          return clients.update(actor(), idOrName, { ...input, ...confirmations });
        });
    return {
      change: updated,
      stream: await changeReceiver(streams, updated.result.client.client_id, receiver),
    };
  });
  await printChange(change, ({ client, lostScopes, requiredScopes }) =>
    printResult({ json }, withStream(client, stream), () => {
      printLine('Changed the registration:\n');
      printFields({ ...clientText(client), ...streamText(stream) });
      if (lostScopes.length > 0)
        printLine(`\nIt may no longer request ${lostScopes.join(' ')}: what users granted stays.`);
      if (client.auth_method === 'client_secret' && client.live_secrets === 0)
        printLine(
          `\nIt cannot authenticate. Create a secret:${commandToPaste('client', 'secret', 'rotate', client.client_id)}`,
        );
      if (requiredScopes.length > 0) printLine(`\nUsers may no longer decline ${requiredScopes.join(' ')}.`);
    }),
  );
  await finishReceiver(stream, change.result.client.client_id);
}

function unchanged(client: ClientView): Change<UpdatedClient> {
  return { result: { client, lostScopes: [], requiredScopes: [] }, announced: Promise.resolve([]) };
}

async function inputOf({
  logo,
  jwks,
  addKey,
  public: isPublic,
  eventsUrl: _url,
  events: _events,
  eventsAuthorization: _header,
  ...options
}: RegistrationOptions): Promise<NewClientInput & ClientChanges> {
  const { backchannelLogoutUri, clientUri, policyUri, jwksUri } = options;
  return {
    ...(isPublic && { type: 'public' }),
    ...Object.fromEntries(Object.entries(options).map(([option, value]) => [fieldOfOption(option), value])),
    ...withNone({ backchannelLogoutUri, clientUri, policyUri, jwksUri }),
    ...(await readGivenFiles({ logo, jwks, addKey })),
  };
}
