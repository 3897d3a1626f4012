import { CommandRunner, Help, SubCommand } from 'nest-commander';
import { invocation } from '../command-line/invocation.js';
import { refuseGroupAlone } from '../command-line/group.js';
import { ListSecretsCommand } from './list-secrets.command.js';
import { RevokeSecretCommand } from './revoke-secret.command.js';
import { RotateSecretCommand } from './rotate-secret.command.js';

@SubCommand({
  name: 'secret',
  description: 'secrets of an application: rotate, list, revoke',
  subCommands: [RotateSecretCommand, ListSecretsCommand, RevokeSecretCommand],
})
export class SecretCommand extends CommandRunner {
  async run(parameters: string[]): Promise<void> {
    refuseGroupAlone(this.command, parameters);
  }

  @Help('after')
  examples(): string {
    return `\nExample:\n  $ ${invocation()} client secret rotate --help`;
  }
}
