import type { CommanderCommand } from './commander-command.js';
import { invocation } from './invocation.js';
import { refuseRepeated } from './single-values.js';

/**
 * Makes a command and all below it refuse what they do not know, say where help is, and throw instead of
 * ending the process: `reportFailure` alone decides on exit codes.
 */
export function strict(command: CommanderCommand, path: readonly string[] = []): void {
  command.exitOverride().showHelpAfterError(`See: ${[invocation(), ...path, '--help'].join(' ')}`);
  // A group takes the name of an unknown subcommand for an argument, and answers better itself.
  command.allowExcessArguments(command.commands.length > 0);
  refuseRepeated(command);
  for (const subcommand of command.commands) strict(subcommand, [...path, subcommand.name()]);
}
