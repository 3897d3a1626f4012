import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { InputError } from '../command-line/input.error.js';
import { printJson, printLine } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { ClientChangedPublisher } from './client-changed.publisher.js';
import { ClientRevoker } from './client-revoker.js';
import { unknownClient } from './unknown-client.js';

interface Options {
  yes?: boolean;
  json?: boolean;
}

@SubCommand({
  name: 'delete',
  arguments: '<id>',
  argsDescription: { id: 'its client_id' },
  description: 'delete an application and end every access that users gave to it',
})
export class DeleteClientCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
    private readonly revoker: ClientRevoker,
  ) {
    super();
  }

  async run([clientId = '']: string[], { yes = false, json = false }: Options): Promise<void> {
    if (!yes) {
      throw new InputError([
        '--yes is missing: this ends every access that users gave to the application, and cannot be undone',
      ]);
    }
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { ClientRegistrationStore } = await import('#directory/client-registration.store.js');
    const revoked = await this.directory.use((stores) =>
      stores.get(ClientRegistrationStore).delete(clientId),
    );
    if (revoked === null) throw unknownClient(clientId);
    // In this order: from the broadcast on no token is issued, and then those that were issued end.
    await this.changed.publish(NATS_URL, clientId);
    await this.revoker.revoke(NATS_URL, clientId);
    if (json) printJson({ client_id: clientId, deleted: true, revoked_grants: revoked });
    else printLine(`Deleted ${clientId}, and revoked ${revoked} grants: none of its tokens works any more.`);
  }

  @Option({ flags: '--yes', description: 'yes, delete it' })
  parseYes(): boolean {
    return true;
  }

  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `
Safe to repeat: when a service did not answer, run it again, and it goes on.

Example:
  $ npm run -s operator -- client delete sc_abcdefghijklmnopqrstuvwx --yes`;
  }
}
