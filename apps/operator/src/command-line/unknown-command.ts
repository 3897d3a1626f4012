import type { CommanderCommand } from './commander-command.js';

/** Refuses a name as Commander does on the first level, and says which there are. */
export function refuseUnknown(group: CommanderCommand, name: string): never {
  const names = group.commands.map((subcommand) => subcommand.name()).join(', ');
  // Quoted as JSON, so that control characters of pasted text do not reach the terminal.
  const quoted = JSON.stringify(name.slice(0, 200)).slice(1, -1);
  return group.error(`error: unknown command '${quoted}'\n(There are ${names})`);
}
