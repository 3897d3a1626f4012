import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import type { User } from '#database/user/user.js';
import { invocation } from '../command-line/invocation.js';
import { InputError } from '../command-line/input.error.js';
import { printFields, printJson, printLine } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { NewUserDto } from './new-user.dto.js';
import { generatePassword, readPassword } from './password-input.js';

interface Options {
  email?: string;
  username?: string;
  name?: string;
  timeZone?: string;
  locale?: string;
  passwordStdin?: boolean;
  json?: boolean;
}

@SubCommand({ name: 'create', description: 'create a user, with a generated password or one from stdin' })
export class CreateUserCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run(_: string[], { json = false, passwordStdin = false, ...options }: Options): Promise<void> {
    const given = passwordStdin ? { password: await readPassword() } : {};
    const input = validated(NewUserDto, { ...options, ...given });
    const generated = input.password === undefined ? generatePassword() : null;
    const user = await this.create(input, input.password ?? generated ?? '');
    const { id, email, username, name, timeZone, locale } = user;
    const created = { id, email, username, name, time_zone: timeZone, locale, password: generated };
    if (json) return printJson(created);
    printLine('Created the user:\n');
    printFields({ ...created, id: String(id), locale: locale ?? 'none', password: generated ?? 'as given' });
    if (generated) printLine('\nThe password is shown only once: the service stores its hash.');
  }

  private async create(input: NewUserDto, password: string): Promise<User> {
    const [{ UserStore }, { hashPassword }, { DuplicateUserError }] = await Promise.all([
      import('#database/user/user.store.js'),
      import('#database/user/password.js'),
      import('#database/user/duplicate-user.error.js'),
    ]);
    const { email, username, name, timeZone, locale = null } = input;
    const zone = timeZone === undefined ? {} : { timeZone };
    return this.directory.use(async (stores) => {
      const passwordHash = await hashPassword(password);
      try {
        return await stores.get(UserStore).create({ email, username, name, passwordHash, locale, ...zone });
      } catch (error) {
        if (!(error instanceof DuplicateUserError)) throw error;
        throw new InputError(
          error.fields.map(
            (field) => `--${field}: another user has this ${field} already; choose another one`,
          ),
        );
      }
    });
  }

  @Option({ flags: '--email <email>', description: 'address to log in with, unique in any letter case' })
  parseEmail(email: string): string {
    return email;
  }

  @Option({ flags: '--username <username>', description: 'name to log in with, unique in any letter case' })
  parseUsername(username: string): string {
    return username;
  }

  @Option({ flags: '--name <name>', description: 'name to show' })
  parseName(name: string): string {
    return name;
  }

  @Option({ flags: '--time-zone <zone>', description: 'IANA name of the time zone (default: UTC)' })
  parseTimeZone(zone: string): string {
    return zone;
  }

  @Option({
    flags: '--locale <locale>',
    description: "language of the pages, like de (default: the browser's)",
  })
  parseLocale(locale: string): string {
    return locale;
  }

  @Option({
    flags: '--password-stdin',
    description: 'read the password, 8 to 256 characters, from a line of stdin',
  })
  parsePasswordStdin(): boolean {
    return true;
  }

  @Option({ flags: '--json', description: 'print JSON; password is null when it came from stdin' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `
Examples:
  $ ${invocation()} user create --email ada@example.com --username ada --name "Ada Lovelace"
  $ ${invocation()} user create --email ada@example.com --username ada --name Ada \\
      --time-zone Europe/London --password-stdin < password-file`;
  }
}
