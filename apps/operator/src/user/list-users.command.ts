import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { Flags } from '../command-line/flags.js';
import { invocation } from '../command-line/invocation.js';
import { printJson, printLine, printTable } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { UserListDto } from './user-list.dto.js';

interface Options {
  search?: string;
  after?: number;
  limit?: number;
  json?: boolean;
}

@SubCommand({
  name: 'list',
  description: 'list users in the order of their ids, a page at a time; never a password hash',
})
@Flags({ '--json': 'print a JSON array' })
export class ListUsersCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run(_: string[], { json = false, ...options }: Options): Promise<void> {
    const { search, after, limit } = validated(UserListDto, options);
    const { UserAccountStore } = await import('#database/user/user-account.store.js');
    const found = await this.directory.use((stores) =>
      // One extra row shows whether there is another page.
      stores.get(UserAccountStore).list({ search, after, limit: limit + 1 }),
    );
    const users = found.slice(0, limit).map(({ id, username, email, name, createdAt, disabledAt }) => ({
      id,
      username,
      email,
      name,
      created_at: createdAt.toISOString(),
      disabled_at: disabledAt?.toISOString() ?? null,
    }));
    if (json) return printJson(users);
    if (users.length === 0) return printLine('No users found.');
    printTable(
      ['id', 'username', 'email', 'created_at', 'disabled_at', 'name'],
      users.map(({ id, username, email, name, created_at, disabled_at }) => [
        String(id),
        username,
        printable(email),
        created_at.slice(0, 10),
        disabled_at?.slice(0, 10) ?? '',
        printable(name),
      ]),
    );
    if (found.length > limit) printLine(`\nFor the next page, add --after ${users.at(-1)?.id}`);
  }

  @Option({ flags: '--search <text>', description: 'part of the email address, user name or name' })
  parseSearch(text: string): string {
    return text;
  }

  @Option({ flags: '--limit <number>', description: 'how many at most, 1 to 1000 (default: 100)' })
  parseLimit(number: string): number {
    return Number(number);
  }

  @Option({ flags: '--after <id>', description: 'only users with a greater id: the next page' })
  parseAfter(id: string): number {
    return Number(id);
  }

  @Help('after')
  examples(): string {
    return `
Examples:
  $ ${invocation()} user list --search @example.com
  $ ${invocation()} user list --limit 1000 --after 4711 --json`;
  }
}

/** Names are untrusted: their control characters must not reach the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\uFFFD');
}
