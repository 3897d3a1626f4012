import { CommandRunner, Help, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { Flags } from '../command-line/flags.js';
import { InputError } from '../command-line/input.error.js';
import { counted, printJson, printLine } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { RevocationApplier } from '../grant/revocation-applier.js';
import { ClientChangedPublisher } from './client-changed.publisher.js';
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
@Flags({ '--yes': 'yes, delete it', '--json': 'print JSON' })
export class DeleteClientCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
    private readonly revocations: RevocationApplier,
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
    const { ClientRegistrationStore } = await import('#database/client/client-registration.store.js');
    const deletion = await this.directory.use((stores) =>
      stores.get(ClientRegistrationStore).delete(clientId),
    );
    if (!deletion) throw unknownClient(clientId);
    // In this order: the broadcast stops new tokens, then existing tokens are revoked.
    await this.changed.publish(NATS_URL, clientId);
    await this.revocations.apply(NATS_URL, { client_id: clientId }, 'the client is deleted');
    const { first, revokedGrants } = deletion;
    if (json)
      return printJson({
        client_id: clientId,
        deleted: true,
        deleted_before: !first,
        revoked_grants: revokedGrants,
      });
    const grants = counted(revokedGrants, 'grant');
    if (first) printLine(`Deleted ${clientId} and revoked ${grants}: none of its tokens works any more.`);
    else printLine(`${clientId} was already deleted; none of its tokens works any more.`);
  }

  @Help('after')
  examples(): string {
    return `
Safe to repeat: when a service did not answer, run it again, and it continues.

Example:
  $ ${invocation()} client delete sc_abcdefghijklmnopqrstuvwx --yes`;
  }
}
