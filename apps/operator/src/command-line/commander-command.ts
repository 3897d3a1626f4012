import type { CommandRunner } from 'nest-commander';

/** Commander's command, of the version that nest-commander brings. */
export type CommanderCommand = Parameters<CommandRunner['setCommand']>[0];
