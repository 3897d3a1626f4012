/** Escapes a character as `\uXXXX`, or as two such escapes above U+FFFF. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
    .join('');

/**
 * Returns JSON that cannot control a terminal. JSON itself permits U+009B, which begins an escape sequence,
 * and U+202E (right to left).
 */
export function jsonText(value: unknown, indentation = 0): string {
  return JSON.stringify(value, null, indentation).replaceAll(/[^\P{C}\n]/gu, escaped);
}

/** Replaces lone surrogates, for which `encodeURIComponent` throws. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, '\uFFFD');
}

/**
 * Replaces the spaces after the scheme of an Authorization header by one space. RFC 9110 11.4 permits several, and
 * passport-http-bearer only one.
 */
export function withOneSpace(authorization: string | undefined): string | undefined {
  return authorization?.replace(/ +/, ' ');
}

/** Quotes the first 200 characters as JSON for messages. */
export function quoted(text: string): string {
  return jsonText(text.slice(0, 200));
}

/** Formats words for a shell. Values of an attacker's request may contain shell syntax. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : shellQuoted(word))).join(' ');
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
