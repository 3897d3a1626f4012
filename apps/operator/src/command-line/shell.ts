import { shellWords } from '#operations/wording.js';
import { invocation } from './operator-command.js';

export function commandLine(...words: readonly string[]): string {
  return `${invocation()} ${shellWords(words)}`;
}

/** Puts the command on its own line, because punctuation after it would be pasted as part of its last word. */
export function commandToPaste(...words: readonly string[]): string {
  return `\n  ${commandLine(...words)}`;
}
