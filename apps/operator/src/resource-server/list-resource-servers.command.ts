import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { printJson, printLine, printTable } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';

@SubCommand({ name: 'list', description: 'list the accounts, oldest first' })
export class ListResourceServersCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run(_: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { ResourceServerStore } = await import('#database/resource-server/resource-server.store.js');
    const found = await this.directory.use((stores) => stores.get(ResourceServerStore).list());
    const servers = found.map(({ id, name, createdAt }) => ({
      id,
      name,
      created_at: createdAt.toISOString(),
    }));
    if (json) return printJson(servers);
    if (servers.length === 0) return printLine('There is no account yet; see resource-server create --help.');
    printTable(
      ['id', 'created_at', 'name'],
      servers.map(({ id, created_at, name }) => [id, created_at.slice(0, 10), name]),
    );
  }

  @Option({ flags: '--json', description: 'print a JSON array' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} resource-server list --json`;
  }
}
