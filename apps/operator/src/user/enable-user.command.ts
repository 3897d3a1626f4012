import { CommandRunner, Help, SubCommand } from 'nest-commander';
import { Flags } from '../command-line/flags.js';
import { invocation } from '../command-line/invocation.js';
import { printJson, printLine } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { findUser, unknownUser } from './find-user.js';

@SubCommand({
  name: 'enable',
  arguments: '<login>',
  argsDescription: { login: 'the email address or user name' },
  description: 'let a disabled user log in again; they have to allow applications again',
})
@Flags({ '--json': 'print JSON' })
export class EnableUserCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run([login = '']: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { UserAccountStore } = await import('#database/user/user-account.store.js');
    const { id, username, wasDisabled } = await this.directory.use(async (stores) => {
      const user = await findUser(stores, login);
      const was = await stores.get(UserAccountStore).enable(user.id);
      if (was === null) throw unknownUser(login);
      return { ...user, wasDisabled: was };
    });
    if (json) return printJson({ id, username, disabled: false, disabled_before: wasDisabled });
    if (wasDisabled) printLine(`Enabled ${username}, who has to log in and allow each application again.`);
    else printLine(`${username} was not disabled.`);
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} user enable ada@example.com`;
  }
}
