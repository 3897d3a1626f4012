/**
 * The query of a request's URL as it came, without the '?'. Node hands out one character per byte; those that may
 * not stand in a URL are percent-encoded, so that the query goes through Location headers and pages unchanged.
 */
export function rawQuery(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1).replaceAll(/[^!"$-~]/g, encodeByte);
}

function encodeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
