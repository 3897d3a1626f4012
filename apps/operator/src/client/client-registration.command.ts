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

type Collector = (value: string, previous?: readonly string[]) => readonly string[];

const BOOLEAN = { true: true, false: false };
const STATE = { required: true, optional: false };
const GRANT = { device: true, code: false };
const ROTATION = { on: true, off: false };

/** An option of `create` and `update`, or of the command that has a text. */
interface RegistrationOption {
  readonly flags: string;
  readonly text?: string;
  readonly create?: string;
  readonly update?: string;
  readonly parse?: Collector | ((text: string) => boolean);
}

/** Without a value, `create` turns it on; `update` takes true or false. */
const flag = (name: string, text: string): RegistrationOption[] => [
  { flags: name, create: text },
  { flags: `${name} <true|false>`, update: `true: ${text}`, parse: choice(name, BOOLEAN) },
];

/** `update` replaces all registered values, or removes them for `none`. */
const list = (
  flags: string,
  parse: Collector,
  texts: { readonly create: string; readonly update: string },
): RegistrationOption[] => [
  { flags, create: texts.create, parse },
  { flags, update: texts.update, parse: orNone(parse) },
];

/** `update` removes the registered value for `none`. */
const removable = (flags: string, text: string): RegistrationOption => ({
  flags,
  create: text,
  update: `${text}; none removes it`,
});

const OPTIONS: readonly RegistrationOption[] = [
  { flags: '--name <name>', text: 'name that users see on the consent page' },
  { flags: '--redirect-uri <uri>', create: 'callback address; may be repeated', parse: collect },
  { flags: '--add-redirect-uri <uri>', update: 'redirect URI to add; may be repeated', parse: collect },
  { flags: '--remove-redirect-uri <uri>', update: 'redirect URI to remove; may be repeated', parse: collect },
  ...list('--private-scheme <scheme>', collect, {
    create:
      'with --public: allow this URI scheme, such as cursor, for a callback that the vendor has fixed; any program on a device can register the same scheme; may be repeated',
    update:
      'URI scheme to allow, such as cursor; replaces the registered schemes; may be repeated; none removes all',
  }),
  {
    flags: '--scope <scopes>',
    create: 'scopes that it may request, separated by spaces (default: the default scopes)',
    update: 'scopes that it may request, separated by spaces; replaces the registered scopes',
    parse: collectScopes,
  },
  { flags: '--add-scope <scopes>', update: 'scopes to add', parse: collectScopes },
  { flags: '--remove-scope <scopes>', update: 'scopes to remove', parse: collectScopes },
  ...list('--optional-scope <scopes>', collectScopes, {
    create: 'scopes that users opt in to with a checkbox, separated by spaces (default: none)',
    update: 'scopes that users opt in to with a checkbox; replaces the registered scopes; none removes all',
  }),
  removable('--logo <file>', `PNG, JPEG or WebP, ${LOGO_LIMITS}, shown to users`),
  removable('--client-uri <url>', 'its home page, which users see'),
  removable('--policy-uri <url>', 'its privacy policy, which users see'),
  ...list('--contacts <contacts>', collectWords, {
    create: 'email addresses or URLs at which users reach its developer, separated by spaces',
    update:
      'email addresses or URLs at which users reach its developer, separated by spaces; replaces the registered contacts; none removes all',
  }),
  ...list('--post-logout-redirect-uri <uri>', collect, {
    create: 'address to which users may return after a log-out (OpenID Connect); may be repeated',
    update:
      'address to which users may return after a log-out; replaces the registered addresses; may be repeated; none removes all',
  }),
  removable('--backchannel-logout-uri <url>', 'address that gets a logout token when a user logs out'),
  {
    flags: '--jwks <file>',
    create:
      'JWK Set with its public keys: it authenticates with signed assertions (private_key_jwt, RFC 7523) instead of a secret',
    update: 'JWK Set with its public keys; replaces the registered keys; none removes them',
  },
  {
    flags: '--jwks-uri <url>',
    create: 'https address of its JWK Set, fetched when needed',
    update: 'https address of its JWK Set; replaces the registered keys; none removes it',
  },
  { flags: '--add-key <file>', update: 'JWK, or JWK Set, to add to the registered public keys' },
  {
    flags: '--remove-key <key>',
    update: 'kid or thumbprint of a key to remove; may be repeated',
    parse: collect,
  },
  {
    flags: '--profile <fapi2>',
    create:
      'FAPI 2.0 Security Profile: requires keys, PAR, PKCE and DPoP; refresh tokens do not rotate, state is optional',
  },
  ...flag('--dpop-bound', 'refuse token requests without a DPoP proof (RFC 9449 5.2)'),
  {
    flags: '--refresh-token-rotation <on|off>',
    create: 'off, with --dpop-bound: the refresh token stays the same (default: on)',
    update: 'off, for DPoP-bound clients only: the refresh token stays the same',
    parse: choice('--refresh-token-rotation', ROTATION),
  },
  {
    flags: '--grant-type <type>',
    create:
      'client_credentials: an API client of the console, with keys and --scope admin:read, admin:write or admin:operators (default: authorization_code)',
  },
  {
    flags: '--grant <code|device>',
    create:
      'device: allow the device authorization grant (RFC 8628) as well; no redirect URI is needed (default: code)',
    update: 'device: allow the device authorization grant (RFC 8628)',
    parse: choice('--grant', GRANT),
  },
  {
    flags: '--metadata-url <url>',
    create:
      'https address of its metadata document, which becomes the client_id; combines only with --scope and --optional-scope',
  },
  { flags: '--public', create: 'a phone, desktop or browser application: no secret, PKCE required' },
  ...flag('--require-par', 'refuse authorization requests that the application did not push (RFC 9126)'),
  {
    flags: '--state <required|optional>',
    create: 'optional: authorization requests may omit state, but must use PKCE (default: required)',
    update: 'optional: authorization requests may omit state, but must use PKCE (RFC 9700 2.1)',
    parse: choice('--state', STATE),
  },
  ...flag('--first-party', 'a first-party application: users are not asked for consent'),
  ...flag('--developer-portal', 'the developer portal of this installation, where owners log in'),
  {
    flags: '--id-token-alg <RS256|ES256|EdDSA>',
    create: 'algorithm that signs its ID tokens (default: RS256; with --profile fapi2 ES256)',
    update: 'algorithm that signs its ID tokens',
  },
  {
    flags: '--subject <public|pairwise>',
    create:
      'pairwise: it gets a different sub for each user than applications at other hosts (default: public)',
    update:
      'pairwise: it gets a different sub for each user than applications at other hosts; after a change, it sees every user as new',
  },
  {
    flags: '--yes',
    update:
      'change the subject, or the application with which operators log in to the console, without confirmation',
  },
];

function registrationCommand(name: 'create' | 'update'): OperatorCommand {
  const command = withReceiverOptions(new OperatorCommand(name));
  for (const { flags, parse, text, [name]: own = text } of OPTIONS) {
    if (own === undefined) continue;
    if (parse) command.option(flags, own, parse as Collector);
    else command.option(flags, own);
  }
  return command.jsonOption();
}

export function createCommand(): OperatorCommand {
  return registrationCommand('create')
    .description('register an application and print its credentials and endpoints')
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
  return registrationCommand('update')
    .argument('<id>', CLIENT)
    .description('change the registration of an application')
    .notes('What users have granted stays granted, even for scopes that are no longer registered.')
    .examples(
      'client update sc_abcdefghijklmnopqrstuvwx --logo logo.png --optional-scope bookings:read',
      'client update sc_abcdefghijklmnopqrstuvwx --add-scope bookings:read',
      'client update sc_abcdefghijklmnopqrstuvwx \\\n' +
        '      --add-redirect-uri https://new.example.com/callback --remove-redirect-uri https://old.example.com/callback',
    )
    .action(update);
}

function collectWords(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(/\s+/).filter((word) => word !== '')];
}

/** Commander's parsers cannot return null, so `none` adds nothing to the list. */
function orNone(collector: Collector): Collector {
  return (value, previous = []) => (value === 'none' ? previous : collector(value, previous));
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
