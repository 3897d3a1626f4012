import { OperatorCommand } from '../command-line/operator-command.js';
import { makeChange } from '../command-line/change.js';
import { type JsonOption, minuteOf, printFields, printLine, printList } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';
import { CLIENT } from './client-lookup.command.js';

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
  await makeChange(
    options,
    ({ secrets }, actor) => secrets.rotate(actor, idOrName),
    (rotated) => {
      const { secrets, ...created } = rotated;
      const [oldest] = secrets;
      printLine('Created a new secret. It is shown only once: the service stores its hash.\n');
      printFields(created);
      if (oldest && oldest.id !== created.secret_id)
        printLine(
          `\nThe old one still works. When the application uses the new one:${commandToPaste('client', 'secret', 'revoke', created.client_id, oldest.id)}`,
        );
    },
  );
}

async function list(idOrName: string, options: JsonOption): Promise<void> {
  const { client_id: clientId, secrets: live } = await withAdministration(DatabaseSettings, ({ secrets }) =>
    secrets.list(idOrName),
  );
  const none = `There is no live secret. Create one:${commandToPaste('client', 'secret', 'rotate', clientId)}`;
  printList(options, live, none, [
    'id',
    'created_at',
    ['last_used_at', ({ last_used_at: used }) => (used === null ? 'never' : minuteOf(used))],
  ]);
}

async function revoke(
  idOrName: string,
  secretId: string,
  { force = false, ...options }: JsonOption & { force?: boolean },
): Promise<void> {
  await makeChange(
    options,
    ({ secrets }, actor) => secrets.revoke(actor, idOrName, secretId, force),
    (result) => {
      const live = result.secrets.map(({ id }) => id);
      const rest = live.length === 0 ? 'No live secret is left' : `Still live: ${live.join(' ')}`;
      printLine(`Revoked ${result.revoked}. ${rest}.`);
    },
  );
}
