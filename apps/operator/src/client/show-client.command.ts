import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { printFields, printJson } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { describeClient } from './describe-client.js';
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
    const { ClientStore } = await import('#directory/client.store.js');
    const client = await this.directory.use((stores) => stores.get(ClientStore).find(clientId));
    if (!client) throw unknownClient(clientId);
    const described = describeClient(client);
    if (json) return printJson(described);
    const { redirect_uris, scopes, require_par, live_secrets, ...fields } = described;
    printFields({
      ...fields,
      scopes: scopes.join(' '),
      require_par: require_par ? 'yes' : 'no',
      live_secrets: String(live_secrets),
      redirect_uris: redirect_uris.join(' '),
    });
  }

  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return '\nExample:\n  $ npm run -s operator -- client show sc_abcdefghijklmnopqrstuvwx';
  }
}
