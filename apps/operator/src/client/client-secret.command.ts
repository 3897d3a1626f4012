import type { ClientSecretRecord, SecretOutcome } from '#database/client/client-secret.store.js';
import { generateClientSecret } from '#oauth/client.js';
import { recordCommand } from '../audit/record-command.js';
import { CLIENT, clientIdOf, unknownClient } from './client.service.js';
import { InputError, quoted } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { printFields, printLine, printResult, printTable, type JsonOption } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withStores } from '../connections/database.connection.js';
import { publishClientChanged } from '../connections/nats.connection.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, DatabaseSettings } from '../settings/settings.js';

export function clientSecretCommand(): OperatorCommand {
  const secret = new OperatorCommand('secret')
    .description('secrets of an application')
    .examples('client secret rotate --help');

  secret
    .command('rotate')
    .argument('<id>', CLIENT)
    .description('create a second secret, in addition to the first')
    .jsonOption()
    .notes(
      'Two secrets may be live at once, so that the application can move from one to the other without a gap.',
    )
    .examples('client secret rotate sc_abcdefghijklmnopqrstuvwx')
    .action(rotate);

  secret
    .command('list')
    .argument('<id>', CLIENT)
    .description('list the live secrets by identifier, oldest first, and when each was last used')
    .jsonOption('print a JSON array')
    .notes('The day of last use is in UTC, and is stored up to half a minute late.')
    .examples('client secret list sc_abcdefghijklmnopqrstuvwx')
    .action(list);

  secret
    .command('revoke')
    .argument('<id>', CLIENT)
    .argument('<secret-id>', 'the identifier that client secret list shows')
    .description('revoke a secret for good')
    .option('--force', 'revoke it even if it is the last one, which locks the application out')
    .jsonOption()
    .examples('client secret revoke sc_abcdefghijklmnopqrstuvwx 6f1c8a52-0d3b-4f6e-9a41-7b2d5c9e8f10')
    .action(revoke);

  return secret;
}

async function rotate(idOrName: string, options: JsonOption): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const clientId = await clientIdOf(settings, idOrName);
  const { secret, hash } = generateClientSecret();
  const outcome = await withStores(settings, ({ secrets }) => secrets.add(clientId, hash));
  const live = liveSecrets(outcome, clientId);
  const [oldest] = live;
  const secretId = live.at(-1)?.id ?? '';
  const created = { client_id: clientId, client_secret: secret, secret_id: secretId };
  // Print before the broadcast: the secret is stored nowhere, and must not be lost if the broadcast is slow.
  printResult(options, { ...created, secrets: live.map(describe) }, () => {
    printLine('Created a new secret. It is shown only once: the service stores its hash.\n');
    printFields(created);
    if (oldest && oldest.id !== secretId)
      printLine(
        `\nThe old one still works. When the application uses the new one:${commandToPaste('client', 'secret', 'revoke', clientId, oldest.id)}`,
      );
  });
  await publishClientChanged(settings.NATS_URL, clientId);
  const detail = { secret_id: secretId };
  await recordCommand(settings, { type: 'client_secret.rotated', client_id: clientId, detail });
}

async function list(idOrName: string, options: JsonOption): Promise<void> {
  const settings = readSettings(DatabaseSettings);
  const clientId = await clientIdOf(settings, idOrName);
  const outcome = await withStores(settings, ({ secrets }) => secrets.list(clientId));
  const live = liveSecrets(outcome, clientId).map(describe);
  printResult(options, live, () => {
    if (live.length === 0)
      return printLine(
        `There is no live secret. Create one:${commandToPaste('client', 'secret', 'rotate', clientId)}`,
      );
    printTable(
      ['id', 'created_at', 'last_used_on'],
      live.map(({ id, created_at, last_used_on }) => [id, created_at.slice(0, 10), last_used_on ?? 'never']),
    );
  });
}

async function revoke(
  idOrName: string,
  secretId: string,
  { force = false, ...options }: JsonOption & { force?: boolean },
): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const clientId = await clientIdOf(settings, idOrName);
  const outcome = await withStores(settings, ({ secrets }) => secrets.revoke(clientId, secretId, force));
  const live = liveSecrets(outcome, clientId, secretId);
  const result = { client_id: clientId, revoked: secretId, secrets: live.map(describe) };
  printResult(options, result, () => {
    const rest =
      live.length === 0 ? 'No live secret is left' : `Still live: ${live.map(({ id }) => id).join(' ')}`;
    printLine(`Revoked ${secretId}. ${rest}.`);
  });
  await publishClientChanged(settings.NATS_URL, clientId);
  const detail = { secret_id: secretId, live_secrets: live.length };
  await recordCommand(settings, { type: 'client_secret.revoked', client_id: clientId, detail });
}

function describe({ id, createdAt, lastUsedOn }: ClientSecretRecord) {
  return { id, created_at: createdAt.toISOString(), last_used_on: lastUsedOn };
}

function liveSecrets(outcome: SecretOutcome, clientId: string, secretId = ''): readonly ClientSecretRecord[] {
  switch (outcome.outcome) {
    case 'done':
      return outcome.live;
    case 'unknown_client':
      throw unknownClient(clientId);
    case 'public_client':
      throw new InputError([`${clientId} is a public client: it uses PKCE instead of a secret`]);
    case 'key_client':
      throw new InputError([
        `${clientId} authenticates with its keys, and has no secret. To change that:${commandToPaste('client', 'update', clientId, '--jwks', 'none')}`,
      ]);
    case 'two_live':
      throw new InputError([
        'the client already has two live secrets: revoke the one that is no longer used',
        ...outcome.live.map(
          (secret) =>
            `secret ${secret.id} (${usageOf(secret)}):${commandToPaste('client', 'secret', 'revoke', clientId, secret.id)}`,
        ),
      ]);
    case 'unknown_secret':
      throw new InputError([
        `the client has no live secret ${quoted(secretId)}. See:${commandToPaste('client', 'secret', 'list', clientId)}`,
      ]);
    default:
      throw new InputError([
        'this is the last live secret: without it, the application cannot authenticate. Give --force, or create another one ' +
          `first:${commandToPaste('client', 'secret', 'rotate', clientId)}`,
      ]);
  }
}

function usageOf({ createdAt, lastUsedOn }: ClientSecretRecord): string {
  return `created ${createdAt.toISOString().slice(0, 10)}, ${lastUsedOn ? `last used ${lastUsedOn}` : 'never used'}`;
}
