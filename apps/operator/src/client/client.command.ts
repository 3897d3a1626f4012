import type { ClientWithSecrets } from '#database/client/client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { readScopes } from '../scope/read-scopes.js';
import { clientSecretCommand } from '../client-secret/client-secret.command.js';
import { confirmed } from '../command-line/dialog.js';
import { InputError, quoted, validated } from '../command-line/input.js';
import { collect, collectScopes, invocation, OperatorCommand } from '../command-line/operator-command.js';
import {
  counted,
  printFields,
  printLine,
  printResult,
  printTable,
  warn,
  type JsonOption,
} from '../command-line/output.js';
import { withStores } from '../connections/database.connection.js';
import { publishClientChanged } from '../connections/nats.connection.js';
import { readSettings } from '../settings/read-settings.js';
import {
  ChangeSettings,
  DatabaseSettings,
  HandoverSettings,
  RegistrationSettings,
} from '../settings/settings.js';
import { ClientChangesDto, NewClientDto, redirectUriHints, scopeProblems } from './client.dto.js';
import { deleteClient, findClient, registerClient, updateClient } from './client.service.js';
import { handoverText } from './handover.js';
import { readLogo } from './read-logo.js';

export function clientCommand(): OperatorCommand {
  const client = new OperatorCommand('client')
    .description('registered applications: create, list, search, show, handover, update, delete, secret')
    .examples('client create --help');

  client
    .command('create')
    .description('register an application and print the five things it needs')
    .option('--name <name>', 'what users see when they are asked to allow access')
    .option('--redirect-uri <uri>', 'where users return to; repeat it for more than one', collect)
    .option(
      '--scope <scopes>',
      'what it may request, separated by spaces (default: the default scopes)',
      collectScopes,
    )
    .option(
      '--optional-scope <scopes>',
      'those of its scopes that users may decline, separated by spaces (default: none)',
      collectScopes,
    )
    .option(
      '--logo <file>',
      'PNG, JPEG or WebP, at most 12 KiB and 512 by 512 pixels, by which users recognise it',
    )
    .option('--public', 'a phone, desktop or browser application: no secret, PKCE required')
    .option('--require-par', 'refuse authorization requests that the application did not push (RFC 9126)')
    .option('--first-party', "an application of the product's own: users are not asked for consent")
    .jsonOption()
    .notes(
      `\
A redirect URI is https, or http on localhost, 127.0.0.1 or [::1]; for a public client also com.example.app:/callback.
It is compared character by character, except for the port of a public client's localhost, 127.0.0.1 or [::1]. The
secret is shown only once. The command "scope list" shows the scopes.`,
    )
    .examples(
      'client create --name "Calendar Connect" --redirect-uri https://app.example.com/callback',
      'client create --name Phone --redirect-uri com.example.app:/callback --public --json',
      'client create --name Bookings --redirect-uri https://app.example.com/callback \\\n' +
        '      --scope "profile:read bookings:read" --optional-scope bookings:read --logo bookings.png',
    )
    .action(create);

  client
    .command('list')
    .description('list the registered applications, oldest first')
    .jsonOption('print a JSON array')
    .examples('client list --json')
    .action(list);

  client
    .command('search')
    .argument('<text>', 'part of its name, client_id or a redirect URI')
    .description('find registered applications')
    .jsonOption('print a JSON array')
    .examples('client search calendar', 'client search app.example.com')
    .action(search);

  client
    .command('handover')
    .argument('<id>', 'its client_id')
    .description('print what the owner of an application needs, as Markdown; never the secret')
    .option(
      '--secret-delivery <text>',
      'how the owner gets the secret (default: that you deliver it separately)',
      'delivered to you separately, through a channel that you agree on with the operator',
    )
    .option('--guide <url>', 'integration guide to link to')
    .jsonOption('print JSON: the text is its field markdown')
    .examples(
      'client handover sc_abcdefghijklmnopqrstuvwx > handover.md',
      'client handover sc_abcdefghijklmnopqrstuvwx --secret-delivery "in your password manager, as \\"Calendar\\""',
    )
    .action(handover);

  client
    .command('show')
    .argument('<id>', 'its client_id')
    .description('show a registered application; never its secret, which nobody can read back')
    .jsonOption()
    .examples('client show sc_abcdefghijklmnopqrstuvwx')
    .action(show);

  client
    .command('update')
    .argument('<id>', 'its client_id')
    .description('change the registration of an application')
    .option('--name <name>', 'what users see when they are asked to allow access')
    .option(
      '--scope <scopes>',
      'everything it may request from now on, separated by spaces; replaces its scopes',
      collectScopes,
    )
    .option(
      '--optional-scope <scopes>',
      'those of its scopes that users may decline; replaces what was registered; none: nothing',
      collectScopesOrNone,
    )
    .option(
      '--require-par <true|false>',
      'whether to refuse authorization requests that the application did not push (RFC 9126)',
    )
    .option('--first-party <true|false>', "whether it is the product's own: users are not asked for consent")
    .option('--logo <file>', 'PNG, JPEG or WebP, at most 12 KiB and 512 by 512 pixels; none removes it')
    .option('--add-redirect-uri <uri>', 'register one more; repeat it for several', collect)
    .option('--remove-redirect-uri <uri>', 'remove one; repeat it for several', collect)
    .jsonOption()
    .notes('What users have granted stays granted, even for scopes that are no longer registered.')
    .examples(
      'client update sc_abcdefghijklmnopqrstuvwx --logo logo.png --optional-scope bookings:read',
      'client update sc_abcdefghijklmnopqrstuvwx --scope "profile:read bookings:read"',
      'client update sc_abcdefghijklmnopqrstuvwx \\\n' +
        '      --add-redirect-uri https://new.example.com/callback --remove-redirect-uri https://old.example.com/callback',
    )
    .action(update);

  client
    .command('delete')
    .argument('<id>', 'its client_id')
    .description('delete an application and end every access that users gave to it')
    .option('--yes', 'yes, delete it')
    .jsonOption()
    .notes('Safe to repeat: if a service did not answer, run it again, and it continues.')
    .examples('client delete sc_abcdefghijklmnopqrstuvwx --yes')
    .action(remove);

  return client.addCommand(clientSecretCommand());
}

function collectScopesOrNone(value: string, previous: readonly string[] = []): readonly string[] {
  return value === 'none' ? previous : collectScopes(value, previous);
}

async function create({
  json,
  logo: file,
  scope,
  ...options
}: JsonOption & { logo?: string; scope?: string[] }): Promise<void> {
  const { logo, problems } = await readLogo(file);
  const { value: catalogue } = readScopes();
  const input = validated(NewClientDto, { ...options, scope: scope ?? [...catalogue.defaults] }, [
    ...scopeProblems(scope ?? [], catalogue),
    ...problems,
  ]);
  const settings = readSettings(RegistrationSettings);
  const { clientId, secret } = await registerClient(settings, input, logo);
  const { AUTH_URL, BASE_URL, NATS_URL } = settings;
  const registered = {
    client_id: clientId,
    client_secret: secret,
    authorization_url: AUTH_URL + ENDPOINTS.authorize,
    token_url: BASE_URL + ENDPOINTS.token,
    refresh_url: BASE_URL + ENDPOINTS.refreshToken,
    ...(input.requirePar && { par_url: BASE_URL + ENDPOINTS.par }),
  };
  // Print before the broadcast: the secret exists nowhere else, and must not be lost if the broadcast is slow.
  printResult({ json }, registered, () => {
    printLine(`Registered ${JSON.stringify(input.name)}. Hand these to the owner of the application:\n`);
    printFields({
      ...registered,
      client_secret: secret ?? 'none: a public client proves itself by PKCE (S256)',
    });
    if (secret) printLine('\nThe client secret is shown only once: the service stores its hash.');
  });
  for (const hint of redirectUriHints(input.redirectUri, input.public ? 'public' : 'confidential'))
    warn(hint);
  await publishClientChanged(NATS_URL, clientId);
}

async function list(options: JsonOption): Promise<void> {
  const found = await withStores(readSettings(DatabaseSettings), ({ clients }) => clients.list());
  printClients(options, found, `No application is registered yet; see ${invocation()} client create --help`);
}

/** @param none what is printed if there are none */
function printClients(options: JsonOption, found: readonly ClientWithSecrets[], none: string): void {
  const described = found.map(describe);
  printResult(options, described, () => {
    if (described.length === 0) return printLine(none);
    printTable(
      ['client_id', 'type', 'first_party', 'logo', 'created_at', 'name'],
      described.map(({ client_id, type, first_party, logo, created_at, name }) => [
        client_id,
        type,
        first_party ? 'yes' : 'no',
        logo ? 'yes' : 'no',
        created_at.slice(0, 10),
        name,
      ]),
    );
  });
}

async function search(text: string, options: JsonOption): Promise<void> {
  const wanted = text.toLowerCase();
  const found = await withStores(readSettings(DatabaseSettings), ({ clients }) => clients.list());
  const matches = found.filter(({ clientId, name, redirectUris }) =>
    [clientId, name, ...redirectUris].some((value) => value.toLowerCase().includes(wanted)),
  );
  printClients(options, matches, 'No application matches.');
}

async function handover(
  clientId: string,
  { secretDelivery, guide, ...options }: JsonOption & { secretDelivery: string; guide?: string },
): Promise<void> {
  if (guide !== undefined && !/^https?:\/\/\S+$/.test(guide))
    throw new InputError(['--guide must be an http or https URL']);
  const settings = readSettings(HandoverSettings);
  const markdown = handoverText(await findClient(settings, clientId), settings, { secretDelivery, guide });
  printResult(options, { client_id: clientId, markdown }, () => printLine(markdown.trimEnd()));
}

async function show(clientId: string, options: JsonOption): Promise<void> {
  const described = describe(await findClient(readSettings(DatabaseSettings), clientId));
  printResult(options, described, () => printFields(asText(described)));
}

async function update(
  clientId: string,
  { json, ...options }: JsonOption & Partial<ClientChangesDto>,
): Promise<void> {
  const removeLogo = options.logo === 'none';
  const { logo, problems } = await readLogo(removeLogo ? undefined : options.logo);
  const { scope = [] } = options;
  const changes = validated(ClientChangesDto, options, [
    ...(scope.length > 0 ? scopeProblems(scope, readScopes().value) : []),
    ...problems,
  ]);
  const settings = readSettings(ChangeSettings);
  const updated = await updateClient(settings, clientId, changes, removeLogo ? null : logo);
  const described = describe(updated);
  printResult({ json }, described, () => {
    printLine('Changed; it is now:\n');
    printFields(asText(described));
  });
  for (const hint of redirectUriHints(changes.addRedirectUri, updated.type)) warn(hint);
  await publishClientChanged(settings.NATS_URL, clientId);
}

async function remove(clientId: string, { yes, ...options }: JsonOption & { yes?: boolean }): Promise<void> {
  const question = `Delete ${quoted(clientId)} and every access that users gave to it? This cannot be undone.`;
  if (!(await confirmed(yes ?? false, question))) throw new InputError(['nothing was deleted']);
  const { first, revokedGrants } = await deleteClient(readSettings(ChangeSettings), clientId);
  const result = {
    client_id: clientId,
    deleted: true,
    deleted_before: !first,
    revoked_grants: revokedGrants,
  };
  printResult(options, result, () =>
    printLine(
      first
        ? `Deleted ${clientId} and revoked ${counted(revokedGrants, 'grant')}: none of its tokens works any more.`
        : `${clientId} was already deleted; none of its tokens works any more.`,
    ),
  );
}

/** A client as the operator sees it: never a secret nor its hash. */
function describe(client: ClientWithSecrets) {
  return {
    client_id: client.clientId,
    name: client.name,
    type: client.type,
    redirect_uris: client.redirectUris,
    scopes: client.scopes,
    optional_scopes: client.optionalScopes,
    require_par: client.requirePar,
    first_party: client.firstParty,
    logo: client.logo,
    live_secrets: client.secrets.length,
    created_at: client.createdAt.toISOString(),
  };
}

function asText(described: ReturnType<typeof describe>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(described).map(([name, value]) => {
      if (typeof value === 'boolean') return [name, value ? 'yes' : 'no'];
      if (Array.isArray(value)) return [name, value.join(' ') || 'none'];
      return [name, String(value ?? 'none')];
    }),
  );
}
