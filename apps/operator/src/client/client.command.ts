import { clientExportCommand } from '../client-file/client-export.command.js';
import { clientImportCommand } from '../client-file/client-import.command.js';
import { clientOwnerCommand } from './client-owner.command.js';
import { clientSecretCommand } from './client-secret.command.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { handoverCommand, listCommand, searchCommand, showCommand } from './client-lookup.command.js';
import { createCommand, updateCommand } from './client-registration.command.js';
import { deleteCommand, disableCommand, enableCommand } from './client-state.command.js';

export function clientCommand(): OperatorCommand {
  return new OperatorCommand('client')
    .description('registered applications')
    .examples('client create --help')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(searchCommand())
    .addCommand(handoverCommand())
    .addCommand(showCommand())
    .addCommand(updateCommand())
    .addCommand(disableCommand())
    .addCommand(enableCommand())
    .addCommand(deleteCommand())
    .addCommand(clientExportCommand())
    .addCommand(clientImportCommand())
    .addCommand(clientSecretCommand())
    .addCommand(clientOwnerCommand());
}
