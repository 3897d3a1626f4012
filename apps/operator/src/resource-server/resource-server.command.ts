import { Command, CommandRunner, Help } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { refuseGroupAlone } from '../command-line/group.js';
import { CreateResourceServerCommand } from './create-resource-server.command.js';
import { ListResourceServersCommand } from './list-resource-servers.command.js';
import { RevokeResourceServerCommand } from './revoke-resource-server.command.js';

@Command({
  name: 'resource-server',
  description: 'APIs that may introspect tokens over HTTP: create, list, revoke',
  subCommands: [CreateResourceServerCommand, ListResourceServersCommand, RevokeResourceServerCommand],
})
export class ResourceServerCommand extends CommandRunner {
  async run(parameters: string[]): Promise<void> {
    refuseGroupAlone(this.command, parameters);
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} resource-server create --help`;
  }
}
