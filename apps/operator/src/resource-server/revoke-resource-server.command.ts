import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { ClientChangedPublisher } from '../client/client-changed.publisher.js';
import { quoted } from '../client/registration-rules.js';
import { InputError } from '../command-line/input.error.js';
import { printJson, printLine } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';

@SubCommand({
  name: 'revoke',
  arguments: '<id>',
  argsDescription: { id: 'its id, like rs_…' },
  description: 'revoke an account for good',
})
export class RevokeResourceServerCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
  ) {
    super();
  }

  async run([id = '']: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { ResourceServerStore } = await import('#database/resource-server/resource-server.store.js');
    const revoked = await this.directory.use((stores) => stores.get(ResourceServerStore).revoke(id));
    if (!revoked)
      throw new InputError([
        `there is no resource server ${quoted(id)}: see ${invocation()} resource-server list`,
      ]);
    if (json) printJson({ id, revoked: true });
    else printLine(`Revoked ${id}: it may not introspect tokens any more.`);
    await this.changed.publish(NATS_URL, id);
  }

  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} resource-server revoke rs_abcdefghijklmnopqrstuvwx`;
  }
}
