import { confirmedChange, makeChange } from '../command-line/change.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printList } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';

export function consoleCommand(): OperatorCommand {
  const command = new OperatorCommand('console')
    .description('roles of users in the console')
    .notes('The console asks here only if operators log in at this service itself: see CONSOLE_GROUPS_CLAIM.')
    .examples('console grant --help');

  command
    .command('grant')
    .argument('<login>', 'e-mail address or user name')
    .description('give a user a role, in place of an earlier one')
    .requiredOption('--role <role>', 'viewer reads, support also ends access, admin may do everything')
    .option('--yes', 'even if the last admin loses the role')
    .jsonOption()
    .examples('console grant ada@example.com --role support')
    .action(grant);

  command
    .command('revoke')
    .argument('<login>', 'e-mail address or user name')
    .description('take the role of a user away, at once')
    .option('--yes', 'even if the user is the last admin')
    .jsonOption()
    .examples('console revoke ada@example.com')
    .action(revoke);

  command
    .command('list')
    .description('list users with a role')
    .jsonOption('print a JSON array')
    .examples('console list')
    .action(list);

  return command;
}

async function grant(
  login: string,
  { role, yes = false, ...options }: JsonOption & { role: string; yes?: boolean },
): Promise<void> {
  await makeChange(
    options,
    ({ consoleOperators }, actor) =>
      confirmedChange(yes, (confirmLastAdmin) =>
        consoleOperators.grant(actor, { login, role, confirmLastAdmin }),
      ),
    (result) => printLine(`${login} may use the console as ${result.role}.`),
  );
}

async function revoke(
  login: string,
  { yes = false, ...options }: JsonOption & { yes?: boolean },
): Promise<void> {
  await makeChange(
    options,
    ({ consoleOperators }, actor) =>
      confirmedChange(yes, (isConfirmed) => consoleOperators.revoke(actor, login, isConfirmed)),
    () => printLine(`${login} may not use the console any more.`),
  );
}

async function list(options: JsonOption): Promise<void> {
  const operators = await withAdministration(DatabaseSettings, ({ consoleOperators }) =>
    consoleOperators.list(),
  );
  const none = `Nobody has a role. See:${commandToPaste('console', 'grant', '--help')}`;
  printList(options, operators, none, ['role', 'username', 'email']);
}
