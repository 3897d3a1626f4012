import { ENDPOINTS } from '#oauth/endpoints.js';
import { generateClientSecret, hasKeys } from '#oauth/client.js';
import { recordCommand } from '../audit/record-command.js';
import { asText, describeKeys } from '../client/client.description.js';
import { nameProblems } from '../client/client.dto.js';
import { type KeyOptions, readKeys } from '../client/read-keys.js';
import { InputError, quoted, Rule, validated } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { printFields, printLine, printResult, printTable, type JsonOption } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withStores } from '../connections/database.connection.js';
import { publishClientChanged } from '../connections/nats.connection.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, DatabaseSettings, ResourceServerSettings } from '../settings/settings.js';

class NewResourceServerDto {
  @Rule(({ name }: NewResourceServerDto) =>
    nameProblems('--name', name, 'operators identify the account by it'),
  )
  name: string;
}

/** RFC 7662 2.1: "the endpoint MUST also require some form of authorization" */
export function resourceServerCommand(): OperatorCommand {
  const server = new OperatorCommand('resource-server')
    .description('APIs that may introspect tokens over HTTP')
    .examples('resource-server create --help');

  server
    .command('create')
    .description('create an account for introspection (RFC 7662)')
    .option('--name <name>', 'name of the API')
    .option(
      '--jwks <file>',
      'JWK Set with its public keys: it signs assertions, and has no secret (RFC 7523)',
    )
    .option('--jwks-uri <url>', 'https address of that JWK Set, fetched when it is needed')
    .jsonOption()
    .notes(
      'To change the secret or the keys, create a second account, and revoke the first when it is no longer used.',
    )
    .examples('resource-server create --name "Bookings API"')
    .action(create);

  server
    .command('list')
    .description('list the accounts, oldest first')
    .jsonOption('print a JSON array')
    .examples('resource-server list --json')
    .action(list);

  server
    .command('revoke')
    .argument('<id>', 'its id, like rs_…')
    .description('revoke an account for good')
    .jsonOption()
    .examples('resource-server revoke rs_abcdefghijklmnopqrstuvwx')
    .action(revoke);

  return server;
}

async function create({
  json,
  jwks,
  jwksUri,
  ...options
}: JsonOption & KeyOptions & { name?: string }): Promise<void> {
  const given = await readKeys({
    ...(jwks !== undefined && { jwks }),
    ...(jwksUri !== undefined && { jwksUri }),
  });
  const { name } = validated(NewResourceServerDto, options, given.problems);
  const settings = readSettings(ResourceServerSettings);
  const keys = given.keys && hasKeys(given.keys) ? given.keys : null;
  const { secret, hash } = keys ? { secret: null, hash: null } : generateClientSecret();
  const { id } = await withStores(settings, ({ resourceServers }) =>
    resourceServers.create(name, keys ?? (hash as Buffer)),
  );
  const created = {
    id,
    secret,
    introspection_url: settings.BASE_URL + ENDPOINTS.introspect,
    ...(keys && {
      auth_method: 'private_key_jwt',
      assertion_audience: settings.BASE_URL,
      ...describeKeys(keys),
    }),
  };
  printResult({ json }, created, () => {
    printLine(`Created an account for ${JSON.stringify(name)}:\n`);
    printFields(asText({ ...created, secret: secret ?? 'none: it signs assertions' }));
    if (secret !== null)
      printLine('\nThe secret is shown only once: the service stores its hash. Send both by HTTP Basic.');
  });
  await recordCommand(settings, {
    type: 'resource_server.created',
    detail: { id, name, ...(keys && describeKeys(keys)) },
  });
}

async function list(options: JsonOption): Promise<void> {
  const found = await withStores(readSettings(DatabaseSettings), ({ resourceServers }) =>
    resourceServers.list(),
  );
  const servers = found.map((server) => ({
    id: server.id,
    name: server.name,
    auth_method: hasKeys(server) ? 'private_key_jwt' : 'client_secret',
    ...describeKeys(server),
    created_at: server.createdAt.toISOString(),
  }));
  printResult(options, servers, () => {
    if (servers.length === 0)
      return printLine(
        `There is no account yet. See:${commandToPaste('resource-server', 'create', '--help')}`,
      );
    printTable(
      ['id', 'auth_method', 'created_at', 'name'],
      servers.map(({ id, auth_method, created_at, name }) => [
        id,
        auth_method,
        created_at.slice(0, 10),
        name,
      ]),
    );
  });
}

async function revoke(id: string, options: JsonOption): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const revoked = await withStores(settings, ({ resourceServers }) => resourceServers.revoke(id));
  if (!revoked)
    throw new InputError([
      `there is no resource server ${quoted(id)}. See:${commandToPaste('resource-server', 'list')}`,
    ]);
  printResult(options, { id, revoked: true }, () =>
    printLine(`Revoked ${id}: it may not introspect tokens any more.`),
  );
  await publishClientChanged(settings.NATS_URL, id);
  await recordCommand(settings, { type: 'resource_server.revoked', detail: { id } });
}
