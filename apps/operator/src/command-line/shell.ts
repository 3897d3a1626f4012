import { shellQuoted } from '#administration/text.js';
import { invocation } from './operator-command.js';

function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : shellQuoted(text);
}

/** Formats a command of this program. Quotes every word: values of an attacker's request may contain shell syntax. */
export function commandLine(...words: readonly string[]): string {
  return [invocation(), ...words.map(shellWord)].join(' ');
}

/** The command stands alone on its line: punctuation after it would be pasted as part of its last word. */
export function commandToPaste(...words: readonly string[]): string {
  return `\n  ${commandLine(...words)}`;
}
