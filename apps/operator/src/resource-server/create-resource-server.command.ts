import { ENDPOINTS } from '#oauth/endpoints.js';
import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { generateClientSecret } from '#database/client/client-secret.js';
import { invocation } from '../command-line/invocation.js';
import { printFields, printJson, printLine } from '../command-line/output.js';
import { validated } from '../command-line/validated.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { IssuerSettings } from '../settings/settings.js';
import { NewResourceServerDto } from './new-resource-server.dto.js';

/** Makes an account for introspection (RFC 7662 2.1: "the endpoint MUST also require some form of authorization"). */
@SubCommand({ name: 'create', description: 'make an account for introspection (RFC 7662)' })
export class CreateResourceServerCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
  ) {
    super();
  }

  async run(_: string[], { json = false, ...options }: { name?: string; json?: boolean }): Promise<void> {
    const { name } = validated(NewResourceServerDto, options);
    const { BASE_URL } = this.settings.read(IssuerSettings);
    const { ResourceServerStore } = await import('#database/resource-server/resource-server.store.js');
    const { secret, hash } = generateClientSecret();
    const { id } = await this.directory.use((stores) => stores.get(ResourceServerStore).create(name, hash));
    const made = { id, secret, introspection_url: BASE_URL + ENDPOINTS.introspect };
    if (json) return printJson(made);
    printLine(`Made an account for ${JSON.stringify(name)}:\n`);
    printFields(made);
    printLine('\nThe secret is shown only once: the service stores its hash. Send both by HTTP Basic.');
  }

  @Option({ flags: '--name <name>', description: 'which API it is' })
  parseName(name: string): string {
    return name;
  }

  @Option({ flags: '--json', description: 'print JSON' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `
To change the secret, make a second account, and revoke the first when it is out of use.

Example:
  $ ${invocation()} resource-server create --name "Bookings API"`;
  }
}
