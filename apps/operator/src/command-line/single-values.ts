import type { CommanderCommand } from './commander-command.js';

/**
 * Makes a command refuse an option given twice whose second value would silently take the place of the first. Those
 * that collect their values have an array by now.
 */
export function refuseRepeated(command: CommanderCommand): void {
  for (const option of command.options.filter(({ required }) => required)) {
    let given = 0;
    command.on(`option:${option.name()}`, () => {
      if (++given > 1 && !Array.isArray(command.getOptionValue(option.attributeName())))
        command.error(`error: ${option.long} is given twice: give it once`);
    });
  }
}
