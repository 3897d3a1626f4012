import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { scopeTokens } from '#oauth/scope.js';
import { Flags } from '../command-line/flags.js';
import { invocation } from '../command-line/invocation.js';
import { printFields, printJson, printLine, warn } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { applyChanges } from './apply-changes.js';
import { ClientChangedPublisher } from './client-changed.publisher.js';
import { ClientChangesDto } from './client-changes.dto.js';
import { asText, describeClient } from './describe-client.js';
import { readLogo } from './read-logo.js';
import { redirectUriHints } from './registration-rules.js';
import { unknownClient } from './unknown-client.js';

interface Options {
  name?: string;
  scope?: string[];
  optionalScope?: string[];
  requirePar?: string;
  firstParty?: string;
  logo?: string;
  addRedirectUri?: string[];
  removeRedirectUri?: string[];
  json?: boolean;
}

@SubCommand({
  name: 'update',
  arguments: '<id>',
  argsDescription: { id: 'its client_id' },
  description: 'change what is registered of an application',
})
@Flags({ '--json': 'print JSON' })
export class UpdateClientCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly changed: ClientChangedPublisher,
  ) {
    super();
  }

  async run([clientId = '']: string[], { json = false, ...options }: Options): Promise<void> {
    const removeLogo = options.logo === 'none';
    const { logo, problems } = await readLogo(removeLogo ? undefined : options.logo);
    const changes = validated(ClientChangesDto, options, problems);
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { ClientRegistrationStore } = await import('#database/client/client-registration.store.js');
    const { ClientStore } = await import('#database/client/client.store.js');
    const updated = await this.directory.use(async (stores) => {
      const done = await stores
        .get(ClientRegistrationStore)
        .update(clientId, (current, type) => applyChanges(current, type, changes, removeLogo ? null : logo));
      return done && stores.get(ClientStore).find(clientId);
    });
    if (!updated) throw unknownClient(clientId);
    const described = describeClient(updated);
    if (json) printJson(described);
    else {
      printLine('Changed; it is now:\n');
      printFields(asText(described));
    }
    for (const hint of redirectUriHints(changes.addRedirectUri, updated.type)) warn(hint);
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

  @Option({
    flags: '--optional-scope <scopes>',
    description: 'those of its scopes that users may decline; replaces what was registered; none: nothing',
  })
  parseOptionalScope(scopes: string, previous: string[] = []): string[] {
    return scopes === 'none' ? previous : scopeTokens([...previous, scopes].join(' '));
  }

  @Option({
    flags: '--require-par <true|false>',
    description: 'whether to refuse authorization requests that the application did not push (RFC 9126)',
  })
  parseRequirePar(value: string): string {
    return value;
  }

  @Option({
    flags: '--first-party <true|false>',
    description: "whether it is the product's own: users are not asked for consent",
  })
  parseFirstParty(value: string): string {
    return value;
  }

  @Option({
    flags: '--logo <file>',
    description: 'PNG, JPEG or WebP, 12 KiB and 512 by 512 pixels at most; none removes it',
  })
  parseLogo(file: string): string {
    return file;
  }

  @Option({ flags: '--add-redirect-uri <uri>', description: 'register one more; repeat it for several' })
  parseAdded(uri: string, previous: string[] = []): string[] {
    return [...previous, uri];
  }

  @Option({ flags: '--remove-redirect-uri <uri>', description: 'remove one; repeat it for several' })
  parseRemoved(uri: string, previous: string[] = []): string[] {
    return [...previous, uri];
  }

  @Help('after')
  examples(): string {
    return `
What users have granted stays granted, also in scopes that are not registered any more.

Examples:
  $ ${invocation()} client update sc_abcdefghijklmnopqrstuvwx --logo logo.png --optional-scope bookings:read
  $ ${invocation()} client update sc_abcdefghijklmnopqrstuvwx --scope "profile:read bookings:read"
  $ ${invocation()} client update sc_abcdefghijklmnopqrstuvwx \\
      --add-redirect-uri https://new.example.com/callback --remove-redirect-uri https://old.example.com/callback`;
  }
}
