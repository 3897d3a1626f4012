import type { CommanderCommand } from './commander-command.js';
import { refuseUnknown } from './unknown-command.js';

/** `help client create`: Commander's own help command knows the first level only. */
export function addHelpCommand(root: CommanderCommand): void {
  root.addHelpCommand(false);
  root
    .command('help')
    .argument('[command...]', 'as it would be written')
    .description('show the help of a command')
    .action((names: string[]) => {
      const found = names.reduce((command: CommanderCommand, name) => {
        const next = command.commands.find((subcommand) => subcommand.name() === name);
        return next ?? refuseUnknown(command, name);
      }, root);
      found.help();
    });
}
