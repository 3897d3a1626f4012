import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { scopeTokens } from '#directory/scope.js';
import { printFields, printJson, printLine } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { applyChanges } from './apply-changes.js';
import { ClientChangedPublisher } from './client-changed.publisher.js';
import { ClientChangesDto } from './client-changes.dto.js';
import { unknownClient } from './unknown-client.js';

interface Options {
  name?: string;
  scope?: string[];
  addRedirectUri?: string[];
  removeRedirectUri?: string[];
  json?: boolean;
}

@SubCommand({
  name: 'update',
  arguments: '<id>',
  argsDescription: { id: 'its client_id' },
  description: 'change the name, scopes or redirect URIs of an application',
})
export class UpdateClientCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
  ) {
    super();
  }

  async run([clientId = '']: string[], { json = false, ...options }: Options): Promise<void> {
    const changes = validated(ClientChangesDto, options);
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { ClientRegistrationStore } = await import('#directory/client-registration.store.js');
    const updated = await this.directory.use((stores) =>
      stores
        .get(ClientRegistrationStore)
        .update(clientId, (current, type) => applyChanges(current, type, changes)),
    );
    if (!updated) throw unknownClient(clientId);
    const { name, redirectUris, scopes } = updated;
    if (json) printJson({ client_id: clientId, name, redirect_uris: redirectUris, scopes });
    else {
      printLine('Changed; it is now:\n');
      const [uris, scope] = [redirectUris.join(' '), scopes.join(' ')];
      printFields({ client_id: clientId, name, scopes: scope, redirect_uris: uris });
    }
    await this.changed.publish(NATS_URL, clientId);
  }

  @Option({ flags: '--name <name>', description: 'what users see when they are asked to allow access' })
  parseName(name: string): string {
    return name;
  }

  @Option({
    flags: '--scope <scopes>',
    description: 'all it may ask users for from now on, separated by spaces; replaces what was registered',
  })
  parseScope(scopes: string, previous: string[] = []): string[] {
    return scopeTokens([...previous, scopes].join(' '));
  }

  @Option({ flags: '--add-redirect-uri <uri>', description: 'register one more; repeat it for several' })
  parseAdded(uri: string, previous: string[] = []): string[] {
    return [...previous, uri];
  }

  @Option({ flags: '--remove-redirect-uri <uri>', description: 'remove one; repeat it for several' })
  parseRemoved(uri: string, previous: string[] = []): string[] {
    return [...previous, uri];
  }

  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `
What users have granted stays granted, also in scopes that are not registered any more.

Examples:
  $ npm run -s operator -- client update sc_abcdefghijklmnopqrstuvwx --scope "profile:read bookings:read"
  $ npm run -s operator -- client update sc_abcdefghijklmnopqrstuvwx \\
      --add-redirect-uri https://new.example.com/callback --remove-redirect-uri https://old.example.com/callback`;
  }
}
