import { Command, CommandRunner, Help } from 'nest-commander';
import { refuseGroupAlone } from '../command-line/group.js';
import { CreateUserCommand } from './create-user.command.js';

@Command({
  name: 'user',
  description: 'users of the scheduling product: create',
  subCommands: [CreateUserCommand],
})
export class UserCommand extends CommandRunner {
  async run(parameters: string[]): Promise<void> {
    refuseGroupAlone(this.command, parameters);
  }

  @Help('after')
  examples(): string {
    return '\nExample:\n  $ npm run -s operator -- user create --help';
  }
}
