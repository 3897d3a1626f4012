import type { CommandRunner } from 'nest-commander';

/** Commander's command, of the version that nest-commander brings. */
export type CommanderCommand = Parameters<CommandRunner['setCommand']>[0];

/**
 * Makes a command and all below it refuse what they do not know, say where help is, and throw instead of
 * ending the process: `reportFailure` alone decides on exit codes.
 */
export function strict(command: CommanderCommand, path = command.name()): void {
  command
    .exitOverride()
    .showHelpAfterError(
      `See: npm run -s ${path.replace(' ', ' -- ')}${path.includes(' ') ? ' ' : ' -- '}--help`,
    );
  // A group takes the name of an unknown subcommand for an argument, and answers better itself.
  command.allowExcessArguments(command.commands.length > 0);
  for (const subcommand of command.commands) strict(subcommand, `${path} ${subcommand.name()}`);
}
