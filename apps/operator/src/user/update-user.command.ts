import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { Flags } from '../command-line/flags.js';
import { invocation } from '../command-line/invocation.js';
import { printJson, printLine } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { findUser, unknownUser } from './find-user.js';
import { UserChangesDto } from './user-changes.dto.js';

@SubCommand({
  name: 'update',
  arguments: '<login>',
  argsDescription: { login: 'the email address or user name' },
  description: 'set the language of the pages for a user',
})
@Flags({ '--json': 'print JSON' })
export class UpdateUserCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run([login = '']: string[], { json = false, ...options }: { locale?: string; json?: boolean }) {
    const { locale: given } = validated(UserChangesDto, options);
    const locale = given === 'none' ? null : given;
    const { UserStore } = await import('#database/user/user.store.js');
    const username = await this.directory.use(async (stores) => {
      const user = await findUser(stores, login);
      if (!(await stores.get(UserStore).setLocale(user.id, locale))) throw unknownUser(login);
      return user.username;
    });
    if (json) printJson({ username, locale });
    else printLine(`${username} now sees the pages in ${languageOf(locale)}.`);
  }

  @Option({
    flags: '--locale <locale>',
    description: 'language of the pages, like de; none: as the browser asks',
  })
  parseLocale(locale: string): string {
    return locale;
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} user update ada@example.com --locale ja`;
  }
}

function languageOf(locale: string | null): string {
  if (locale === null) return 'the language that the browser asks for';
  return `${new Intl.DisplayNames('en', { type: 'language' }).of(locale)} (${locale})`;
}
