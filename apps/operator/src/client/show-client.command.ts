import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { printFields, printJson } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { asText, describeClient } from './describe-client.js';
import { unknownClient } from './unknown-client.js';

@SubCommand({
  name: 'show',
  arguments: '<id>',
  argsDescription: { id: 'its client_id' },
  description: 'show a registered application; never its secret, which nobody can read back',
})
export class ShowClientCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run([clientId = '']: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { ClientStore } = await import('#database/client/client.store.js');
    const client = await this.directory.use((stores) => stores.get(ClientStore).find(clientId));
    if (!client) throw unknownClient(clientId);
    const described = describeClient(client);
    if (json) return printJson(described);
    printFields(asText(described));
  }

  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} client show sc_abcdefghijklmnopqrstuvwx`;
  }
}
