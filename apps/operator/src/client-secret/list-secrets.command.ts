import { CommandRunner, Help, Option, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { printJson, printLine, printTable } from '../command-line/output.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { describeSecret } from './describe-secret.js';
import { doneOrRefused } from './secret-refusal.js';

@SubCommand({
  name: 'list',
  arguments: '<id>',
  argsDescription: { id: 'the client_id' },
  description: 'list the live secrets by identifier, oldest first, and when each was last used',
})
export class ListSecretsCommand extends CommandRunner {
  constructor(private readonly directory: DirectoryConnection) {
    super();
  }

  async run([clientId = '']: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { ClientSecretStore } = await import('#database/client/client-secret.store.js');
    const result = await this.directory.use((stores) => stores.get(ClientSecretStore).list(clientId));
    const secrets = doneOrRefused(result, clientId).map(describeSecret);
    if (json) return printJson(secrets);
    if (secrets.length === 0)
      return printLine(`No secret is live; make one: ${invocation()} client secret rotate ${clientId}`);
    printTable(
      ['id', 'created_at', 'last_used_on'],
      secrets.map(({ id, created_at, last_used_on }) => [
        id,
        created_at.slice(0, 10),
        last_used_on ?? 'never',
      ]),
    );
  }

  @Option({ flags: '--json', description: 'print a JSON array' })
  parseJson(): boolean {
    return true;
  }

  @Help('after')
  examples(): string {
    return `
The day of last use is UTC, and may be written half a minute late.

Example:
  $ ${invocation()} client secret list sc_abcdefghijklmnopqrstuvwx`;
  }
}
