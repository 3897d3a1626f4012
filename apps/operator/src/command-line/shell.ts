import { invocation } from './operator-command.js';

/** Quotes text for a POSIX shell, as one word. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Quotes text only if a shell needs it. */
function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : shellQuoted(text);
}

/**
 * A command of this program, as it is typed. Every word is quoted, because the sender of a request may have put commands into its
 * values.
 */
export function commandLine(...words: readonly string[]): string {
  return [invocation(), ...words.map(shellWord)].join(' ');
}

/** A line that holds only a command to paste: punctuation after the command would become a part of its last word. */
export function toPaste(...words: readonly string[]): string {
  return `\n  ${commandLine(...words)}`;
}
