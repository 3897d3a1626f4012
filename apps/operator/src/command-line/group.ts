import type { CommanderCommand } from './strict.js';
import { InputError } from './input.error.js';

/** What a command does that only holds others: names an unknown one, or shows its help as wrong usage. */
export function refuseGroupAlone(command: CommanderCommand, parameters: readonly string[]): void {
  const names = command.commands.map((subcommand) => subcommand.name()).join(', ');
  const path = [command.parent?.parent && command.parent.name(), command.name()].filter(Boolean).join(' ');
  const [unknown] = parameters;
  if (unknown === undefined) command.help({ error: true });
  throw new InputError([
    `unknown command ${JSON.stringify(unknown)}: ${path} has ${names}; see ${path} --help`,
  ]);
}
