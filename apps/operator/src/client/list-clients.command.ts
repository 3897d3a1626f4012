import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { printJson, printLine, printTable } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { describeClient } from './describe-client.js';

@SubCommand({ name: 'list', description: 'list the registered applications, oldest first' })
export class ListClientsCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run(_: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { ClientStore } = await import('#database/client/client.store.js');
    const clients = (await this.directory.use((stores) => stores.get(ClientStore).list())).map(
      describeClient,
    );
    if (json) return printJson(clients);
    if (clients.length === 0)
      return printLine(`No application is registered yet; see ${invocation()} client create --help`);
    printTable(
      ['client_id', 'type', 'first_party', 'logo', 'created_at', 'name'],
      clients.map(({ client_id, type, first_party, logo, created_at, name }) => [
        client_id,
        type,
        first_party ? 'yes' : 'no',
        logo ? 'yes' : 'no',
        created_at.slice(0, 10),
        name,
      ]),
    );
  }

  @Option({ flags: '--json', description: 'print a JSON array' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} client list --json`;
  }
}
