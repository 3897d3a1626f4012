import type { Argument, Command, Option } from 'commander';

export type Value =
  { readonly kind: 'words'; readonly words: readonly string[] } | { readonly kind: 'file' | 'text' };

export interface Completions {
  /** Names of the command and its parents, separated by spaces; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly {
    readonly name: string;
    readonly description: string;
    readonly value?: Value;
  }[];
  readonly argument?: Value;
}

export function completionsOf(command: Command, path = ''): Completions[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const [argument] = command.registeredArguments;
  const own: Completions = {
    path,
    subcommands: command.commands.map((subcommand) => ({
      name: subcommand.name(),
      description: help.subcommandDescription(subcommand),
    })),
    options: options.map((option) => ({
      name: option.long ?? option.flags,
      description: option.description,
      ...((option.required || option.optional) && { value: valueOf(option, option.flags) }),
    })),
    ...(argument && { argument: valueOf(argument, argument.name()) }),
  };
  const below = command.commands.flatMap((subcommand) =>
    completionsOf(subcommand, `${path} ${subcommand.name()}`.trim()),
  );
  return [own, ...below];
}

/** @param name the name of an argument, or the flags of an option, like `--require-par <true|false>` */
function valueOf({ argChoices }: Argument | Option, name: string): Value {
  const [, placeholder = name] = /<([^<>]+)>/.exec(name) ?? [];
  const words = argChoices ?? (placeholder.includes('|') ? placeholder.split('|') : []);
  if (words.length > 0) return { kind: 'words', words };
  return { kind: /^(?:file|path|folder)$/i.test(placeholder) ? 'file' : 'text' };
}

/** Returns the possible words, or a marker: `@file` for file names, `@text` for text without suggestions. */
export const takenBy = (value: Value): string =>
  value.kind === 'words' ? value.words.join(' ') : `@${value.kind}`;
