import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { CommandRunner, InjectCommander } from 'nest-commander';
import { ClientChangedPublisher } from './client/client-changed.publisher.js';
import { ClientCommand } from './client/client.command.js';
import { CreateClientCommand } from './client/create-client.command.js';
import { DeleteClientCommand } from './client/delete-client.command.js';
import { ListClientsCommand } from './client/list-clients.command.js';
import { ListSecretsCommand } from './client-secret/list-secrets.command.js';
import { RevokeSecretCommand } from './client-secret/revoke-secret.command.js';
import { RotateSecretCommand } from './client-secret/rotate-secret.command.js';
import { SecretCommand } from './client-secret/secret.command.js';
import { ShowClientCommand } from './client/show-client.command.js';
import { UpdateClientCommand } from './client/update-client.command.js';
import type { CommanderCommand } from './command-line/commander-command.js';
import { addHelpCommand } from './command-line/help-command.js';
import { invocation } from './command-line/invocation.js';
import { strict } from './command-line/strict.js';
import { RevocationApplier } from './grant/revocation-applier.js';
import { MigrateCommand } from './migrate/migrate.command.js';
import { CreateResourceServerCommand } from './resource-server/create-resource-server.command.js';
import { ListResourceServersCommand } from './resource-server/list-resource-servers.command.js';
import { ResourceServerCommand } from './resource-server/resource-server.command.js';
import { RevokeResourceServerCommand } from './resource-server/revoke-resource-server.command.js';
import { DirectoryConnection } from './settings/directory.connection.js';
import { SettingsReader } from './settings/settings.reader.js';
import { CreateUserCommand } from './user/create-user.command.js';
import { DeleteUserCommand } from './user/delete-user.command.js';
import { DisableUserCommand } from './user/disable-user.command.js';
import { EnableUserCommand } from './user/enable-user.command.js';
import { ListUsersCommand } from './user/list-users.command.js';
import { SetPasswordCommand } from './user/set-password.command.js';
import { UpdateUserCommand } from './user/update-user.command.js';
import { UserCommand } from './user/user.command.js';

const COMMANDS: (new (...dependencies: never[]) => CommandRunner)[] = [
  ClientCommand,
  CreateClientCommand,
  ListClientsCommand,
  ShowClientCommand,
  UpdateClientCommand,
  DeleteClientCommand,
  SecretCommand,
  RotateSecretCommand,
  ListSecretsCommand,
  RevokeSecretCommand,
  ResourceServerCommand,
  CreateResourceServerCommand,
  ListResourceServersCommand,
  RevokeResourceServerCommand,
  UserCommand,
  CreateUserCommand,
  ListUsersCommand,
  UpdateUserCommand,
  SetPasswordCommand,
  DisableUserCommand,
  EnableUserCommand,
  DeleteUserCommand,
  MigrateCommand,
];

/** The operator's command line. Nothing connects until a command with valid input needs it. */
@Module({
  providers: [...COMMANDS, SettingsReader, DirectoryConnection, ClientChangedPublisher, RevocationApplier],
})
export class OperatorModule implements OnApplicationBootstrap {
  constructor(@InjectCommander() private readonly commander: CommanderCommand) {}

  /** nest-commander has built every command by now. */
  onApplicationBootstrap(): void {
    this.commander
      .name('operator')
      .description(
        'Registers applications, resource servers and users of the OAuth 2.0 authorization service.',
      )
      .addHelpText(
        'after',
        `
While "npm start" runs the commands work on it with no settings. Elsewhere all read DATABASE_URL, and DATABASE_SCHEMA
if it is set; client create, update and delete, client secret rotate and revoke, resource-server revoke, and user
disable and delete also NATS_URL; client create also AUTH_URL and BASE_URL; resource-server create also BASE_URL.

Examples:
  $ ${invocation()} client create --name "Calendar Connect" --redirect-uri https://app.example.com/callback
  $ ${invocation()} client create --help`,
      );
    addHelpCommand(this.commander);
    strict(this.commander);
  }
}
