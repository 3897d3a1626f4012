import { shellWords } from '#administration/text.js';
import { invocation } from './operator-command.js';

export function commandLine(...words: readonly string[]): string {
  return `${invocation()} ${shellWords(words)}`;
}

/** The command stands alone on its line: punctuation after it would be pasted as part of its last word. */
export function commandToPaste(...words: readonly string[]): string {
  return `\n  ${commandLine(...words)}`;
}
