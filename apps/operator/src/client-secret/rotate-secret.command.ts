import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { generateClientSecret } from '#database/client/client-secret.js';
import { invocation } from '../command-line/invocation.js';
import { printFields, printJson, printLine } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { ClientChangedPublisher } from '../client/client-changed.publisher.js';
import { describeSecret } from './describe-secret.js';
import { doneOrRefused } from './secret-refusal.js';

@SubCommand({
  name: 'rotate',
  arguments: '<id>',
  argsDescription: { id: 'the client_id' },
  description: 'make a second secret, beside the first',
})
export class RotateSecretCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
  ) {
    super();
  }

  async run([clientId = '']: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { ClientSecretStore } = await import('#database/client/client-secret.store.js');
    const { secret, hash } = generateClientSecret();
    const live = doneOrRefused(
      await this.directory.use((stores) => stores.get(ClientSecretStore).add(clientId, hash)),
      clientId,
    );
    const secretId = live.at(-1)?.id ?? '';
    // Printed first: the secret exists nowhere else, and must not be lost to a slow broadcast.
    const made = { client_id: clientId, client_secret: secret, secret_id: secretId };
    if (json) printJson({ ...made, secrets: live.map(describeSecret) });
    else {
      printLine('Created a new secret. It is shown only once: the service stores its hash.\n');
      printFields(made);
      const [old] = live;
      if (old && old.id !== secretId)
        printLine(
          `\nThe old one works on. When the application uses the new one:\n  ${invocation()} client secret revoke ${clientId} ${old.id}`,
        );
    }
    await this.changed.publish(NATS_URL, clientId);
  }

  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `
Two secrets may be live at once, so that the application can move from one to the other without a gap.

Example:
  $ ${invocation()} client secret rotate sc_abcdefghijklmnopqrstuvwx`;
  }
}
