import { Command, CommandRunner, Help } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { refuseGroupAlone } from '../command-line/group.js';
import { CreateUserCommand } from './create-user.command.js';
import { UpdateUserCommand } from './update-user.command.js';

@Command({
  name: 'user',
  description: 'users of the scheduling product: create, update',
  subCommands: [CreateUserCommand, UpdateUserCommand],
})
export class UserCommand extends CommandRunner {
  async run(parameters: string[]): Promise<void> {
    refuseGroupAlone(this.command, parameters);
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} user create --help`;
  }
}
