import { actor, makeChange, printChange } from '../command-line/change.js';
import { type FileOptions, readGivenFiles } from '../client/client-registration.command.js';
import { withNone } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  asText,
  type JsonOption,
  printFields,
  printLine,
  printList,
  printResult,
} from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings, ResourceServerSettings } from '../settings/settings.js';

const ID = ['<id>', 'its id, like rs_…'] as const;

/** RFC 7662 2.1: "the endpoint MUST also require some form of authorization" */
export function resourceServerCommand(): OperatorCommand {
  const server = new OperatorCommand('resource-server')
    .description('APIs that may introspect tokens over HTTP')
    .examples('resource-server create --help');

  withKeys(
    server
      .command('create')
      .description('create an account for introspection (RFC 7662)')
      .option('--name <name>', 'name of the API'),
  )
    .notes(
      'To change the secret, create a second account, and revoke the first when it is no longer used. update changes the keys.',
    )
    .examples('resource-server create --name "Bookings API"')
    .action(create);

  withKeys(
    server
      .command('update')
      .argument(...ID)
      .description('change the name or the keys of an account')
      .option('--name <name>', 'another name of the API'),
  )
    .notes('New keys replace the secret or the former keys immediately.')
    .examples(
      'resource-server update rs_abcdefghijklmnopqrstuvwx --name "Rooms API"',
      'resource-server update rs_abcdefghijklmnopqrstuvwx --jwks jwks.json',
    )
    .action(update);

  server
    .command('list')
    .description('list the accounts, oldest first')
    .jsonOption('print a JSON array')
    .examples('resource-server list --json')
    .action(list);

  server
    .command('revoke')
    .argument(...ID)
    .description('revoke an account for good')
    .jsonOption()
    .examples('resource-server revoke rs_abcdefghijklmnopqrstuvwx')
    .action(revoke);

  return server;
}

function withKeys(command: OperatorCommand): OperatorCommand {
  return command
    .option(
      '--jwks <file>',
      'JWK Set with its public keys: it signs assertions, and has no secret (RFC 7523)',
    )
    .option('--jwks-uri <url>', 'https address of that JWK Set, fetched when it is needed')
    .jsonOption();
}

type Options = JsonOption & FileOptions & { readonly name?: string; readonly jwksUri?: string };

async function inputOf({ name, jwks, jwksUri }: Options) {
  return { name, ...withNone({ jwksUri }), ...(await readGivenFiles({ jwks })) };
}

async function create(options: Options): Promise<void> {
  const input = await inputOf(options);
  const change = await withAdministration(ResourceServerSettings, ({ resourceServers }) =>
    resourceServers.create(actor(), input),
  );
  await printChange(change, ({ name, ...created }) =>
    printResult(options, created, () => {
      const { secret } = created;
      printLine(`Created an account for ${JSON.stringify(name)}:\n`);
      printFields(asText({ ...created, secret: secret ?? 'none: it signs assertions' }));
      if (secret !== null)
        printLine('\nThe secret is shown only once: the service stores its hash. Send both by HTTP Basic.');
    }),
  );
}

async function list(options: JsonOption): Promise<void> {
  const servers = await withAdministration(DatabaseSettings, ({ resourceServers }) => resourceServers.list());
  const none = `There is no account yet. See:${commandToPaste('resource-server', 'create', '--help')}`;
  printList(options, servers, none, ['id', 'auth_method', 'created_at', 'name']);
}

async function update(id: string, options: Options): Promise<void> {
  const input = await inputOf(options);
  await makeChange(
    options,
    ({ resourceServers }, by) => resourceServers.update(by, id, input),
    (server) => {
      // `keys` has the thumbprints.
      const { jwks: _, ...shown } = server;
      printFields(asText(shown));
    },
  );
}

async function revoke(id: string, options: JsonOption): Promise<void> {
  await makeChange(
    options,
    ({ resourceServers }, actor) => resourceServers.revoke(actor, id),
    () => printLine(`Revoked ${id}: it may not introspect tokens any more.`),
  );
}
