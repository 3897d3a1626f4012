import { makeChange } from '../command-line/change.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printResult, printTable } from '../command-line/output.js';
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
    .jsonOption()
    .examples('console grant ada@example.com --role support')
    .action(grant);

  command
    .command('revoke')
    .argument('<login>', 'e-mail address or user name')
    .description('take the role of a user away, at once')
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

async function grant(login: string, { role, ...options }: JsonOption & { role: string }): Promise<void> {
  await makeChange(
    options,
    ({ consoleOperators }, actor) => consoleOperators.grant(actor, { login, role }),
    (result) => printLine(`${login} may use the console as ${result.role}.`),
  );
}

async function revoke(login: string, options: JsonOption): Promise<void> {
  await makeChange(
    options,
    ({ consoleOperators }, actor) => consoleOperators.revoke(actor, login),
    () => printLine(`${login} may not use the console any more.`),
  );
}

async function list(options: JsonOption): Promise<void> {
  const operators = await withAdministration(DatabaseSettings, ({ consoleOperators }) =>
    consoleOperators.list(),
  );
  printResult(options, operators, () => {
    if (operators.length === 0)
      return printLine(`Nobody has a role. See:${commandToPaste('console', 'grant', '--help')}`);
    printTable(
      ['role', 'username', 'email'],
      operators.map(({ role, username, email }) => [role, username, email]),
    );
  });
}
