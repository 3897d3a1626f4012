import type { CommanderCommand } from './commander-command.js';
import { refuseUnknown } from './unknown-command.js';

/** What a command does that only holds others: refuses an unknown one, or shows its help as wrong usage. */
export function refuseGroupAlone(command: CommanderCommand, parameters: readonly string[]): void {
  const [unknown] = parameters;
  if (unknown === undefined) command.help({ error: true });
  refuseUnknown(command, unknown);
}
