import { CommandRunner, Help, SubCommand } from 'nest-commander';
import { Flags } from '../command-line/flags.js';
import { invocation } from '../command-line/invocation.js';
import { printJson, printLine } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { findUser, unknownUser } from './find-user.js';
import { PasswordDto } from './password.dto.js';
import { generatePassword, readPassword } from './password-input.js';

interface Options {
  passwordStdin?: boolean;
  endSessions?: boolean;
  json?: boolean;
}

@SubCommand({
  name: 'set-password',
  arguments: '<login>',
  argsDescription: { login: 'the email address or user name' },
  description: 'replace the password of a user with a generated one or one from stdin',
})
@Flags({
  '--password-stdin': 'read the password, 8 to 256 characters, from a line of stdin',
  '--end-sessions': 'end every session of the user',
  '--json': 'print JSON; password is null when it came from stdin',
})
export class SetPasswordCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run(
    [login = '']: string[],
    { passwordStdin = false, endSessions = false, json = false }: Options,
  ): Promise<void> {
    const given = passwordStdin ? await readPassword() : null;
    const password = given ?? generatePassword();
    validated(PasswordDto, { password });
    const [{ UserAccountStore }, { hashPassword }] = await Promise.all([
      import('#database/user/user-account.store.js'),
      import('#database/user/password.js'),
    ]);
    const { id, username } = await this.directory.use(async (stores) => {
      const user = await findUser(stores, login);
      const hash = await hashPassword(password);
      const done = await stores.get(UserAccountStore).setPassword(user.id, hash, endSessions);
      if (!done) throw unknownUser(login);
      return user;
    });
    const generated = given === null ? password : null;
    if (json) return printJson({ id, username, password: generated, sessions_ended: endSessions });
    const sessions = endSessions
      ? ' and ended every session.'
      : '. Open sessions stay open: --end-sessions ends them.';
    printLine(`Changed the password of ${username}${sessions}`);
    if (generated !== null)
      printLine(`\n  ${generated}\n\nIt is shown only once: the service stores its hash.`);
  }

  @Help('after')
  examples(): string {
    return `
Applications keep their access: "user disable" ends it. Sessions stay open without --end-sessions.

Examples:
  $ ${invocation()} user set-password ada@example.com --end-sessions
  $ ${invocation()} user set-password ada@example.com --password-stdin < password-file`;
  }
}
