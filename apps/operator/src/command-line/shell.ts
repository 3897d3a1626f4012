/** Quotes text for a POSIX shell, as one word. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Quotes text only if a shell needs it. Use it for the values of a request, because its sender may have put commands into them. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : shellQuoted(text);
}
