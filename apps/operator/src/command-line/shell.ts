/** Quotes text for a POSIX shell, as one word. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** As `shellQuoted`, but without quotes where none are needed. For a value of a request: whoever sends it chooses what it holds. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : shellQuoted(text);
}
