import { CommandRunner, Help, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { Flags } from '../command-line/flags.js';
import { printJson, printLine } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { ClientChangedPublisher } from '../client/client-changed.publisher.js';
import { describeSecret } from './describe-secret.js';
import { doneOrRefused } from './secret-refusal.js';

interface Options {
  force?: boolean;
  json?: boolean;
}

@SubCommand({
  name: 'revoke',
  arguments: '<id> <secret-id>',
  argsDescription: { id: 'the client_id', 'secret-id': 'the identifier that client secret list shows' },
  description: 'revoke a secret for good',
})
@Flags({
  '--force': 'revoke it even if it is the last: the application is cut off',
  '--json': 'print JSON',
})
export class RevokeSecretCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
  ) {
    super();
  }

  async run(
    [clientId = '', secretId = '']: string[],
    { force = false, json = false }: Options,
  ): Promise<void> {
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { ClientSecretStore } = await import('#database/client/client-secret.store.js');
    const result = await this.directory.use((stores) =>
      stores.get(ClientSecretStore).revoke(clientId, secretId, force),
    );
    const live = doneOrRefused(result, clientId, secretId);
    if (json) printJson({ client_id: clientId, revoked: secretId, secrets: live.map(describeSecret) });
    else
      printLine(
        `Revoked ${secretId}. ${live.length === 0 ? 'No secret is live any more' : `Still live: ${live.map(({ id }) => id).join(' ')}`}.`,
      );
    await this.changed.publish(NATS_URL, clientId);
  }

  @Help('after')
  examples(): string {
    return `
Example:
  $ ${invocation()} client secret revoke sc_abcdefghijklmnopqrstuvwx 6f1c8a52-0d3b-4f6e-9a41-7b2d5c9e8f10`;
  }
}
