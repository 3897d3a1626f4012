import { Command, CommandRunner, Help } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { refuseGroupAlone } from '../command-line/group.js';
import { CreateClientCommand } from './create-client.command.js';
import { DeleteClientCommand } from './delete-client.command.js';
import { ListClientsCommand } from './list-clients.command.js';
import { SecretCommand } from '../client-secret/secret.command.js';
import { ShowClientCommand } from './show-client.command.js';
import { UpdateClientCommand } from './update-client.command.js';

@Command({
  name: 'client',
  description: 'registered applications: create, list, show, update, delete, secret',
  subCommands: [
    CreateClientCommand,
    ListClientsCommand,
    ShowClientCommand,
    UpdateClientCommand,
    DeleteClientCommand,
    SecretCommand,
  ],
})
export class ClientCommand extends CommandRunner {
  async run(parameters: string[]): Promise<void> {
    refuseGroupAlone(this.command, parameters);
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} client create --help`;
  }
}
