import { Command, CommandRunner, Help } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { refuseGroupAlone } from '../command-line/group.js';
import { CreateUserCommand } from './create-user.command.js';
import { DeleteUserCommand } from './delete-user.command.js';
import { DisableUserCommand } from './disable-user.command.js';
import { EnableUserCommand } from './enable-user.command.js';
import { ListUsersCommand } from './list-users.command.js';
import { SetPasswordCommand } from './set-password.command.js';
import { UpdateUserCommand } from './update-user.command.js';

@Command({
  name: 'user',
  description: 'users of the scheduling product: create, list, update, set-password, disable, enable, delete',
  subCommands: [
    CreateUserCommand,
    ListUsersCommand,
    UpdateUserCommand,
    SetPasswordCommand,
    DisableUserCommand,
    EnableUserCommand,
    DeleteUserCommand,
  ],
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
