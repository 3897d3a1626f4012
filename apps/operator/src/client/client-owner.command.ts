import { makeChange } from '../command-line/change.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printList } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { InputError } from '../command-line/flags.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';
import { CLIENT } from './client-lookup.command.js';

const LOGIN = 'e-mail address or user name, or id: and the id of the user';

export function clientOwnerCommand(): OperatorCommand {
  const owner = new OperatorCommand('owner')
    .description('users who look after an application in the developer portal')
    .examples('client owner list --without');

  owner
    .command('add')
    .argument('<id>', CLIENT)
    .argument('<login>', LOGIN)
    .description('let a user look after an application')
    .jsonOption()
    .examples('client owner add sc_abcdefghijklmnopqrstuvwx ada@example.com')
    .action((id: string, login: string, options: JsonOption) =>
      makeChange(
        options,
        ({ members }, by) => members.addOwner(by, id, login),
        ({ client_id: clientId, added }) =>
          printLine(`${login} ${added ? 'now owns' : 'already owned'} ${clientId}.`),
      ),
    );

  owner
    .command('remove')
    .argument('<id>', CLIENT)
    .argument('<login>', LOGIN)
    .description('remove an owner, even the last one')
    .jsonOption()
    .examples('client owner remove sc_abcdefghijklmnopqrstuvwx ada@example.com')
    .action((id: string, login: string, options: JsonOption) =>
      makeChange(
        options,
        ({ members }, by) => members.removeOwner(by, id, login),
        ({ client_id: clientId }) => printLine(`${login} does not own ${clientId} any more.`),
      ),
    );

  owner
    .command('list')
    .argument('[id]', CLIENT)
    .description('list the owners of an application, or applications without an owner')
    .option('--without', 'list applications of developers that have no enabled owner, at most 1,000')
    .jsonOption('print a JSON array')
    .examples('client owner list sc_abcdefghijklmnopqrstuvwx', 'client owner list --without')
    .action(list);

  return owner;
}

async function list(
  id: string | undefined,
  { without = false, ...options }: JsonOption & { without?: boolean },
): Promise<void> {
  if ((id === undefined) !== without) throw new InputError(['give either an application or --without']);
  if (id === undefined) return listWithout(options);
  const owners = await withAdministration(DatabaseSettings, ({ members }) => members.owners(id));
  const none = `Nobody owns it. Add an owner:${commandToPaste('client', 'owner', 'add', '--help')}`;
  printList(options, owners, none, [
    'user_id',
    'username',
    'email',
    'added_at',
    ['state', ({ disabled_at: disabledAt }) => (disabledAt === null ? 'enabled' : 'disabled')],
  ]);
}

async function listWithout(options: JsonOption): Promise<void> {
  const clients = await withAdministration(DatabaseSettings, ({ members }) => members.withoutOwner());
  const described = clients.map(({ clientId, name }) => ({ client_id: clientId, name }));
  printList(options, described, 'Every application has an enabled owner.', ['client_id', 'name']);
}
