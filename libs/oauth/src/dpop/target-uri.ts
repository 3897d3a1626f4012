/** Permits only RFC 3986 syntax, because the URL class corrects backslashes, spaces, tabs and missing slashes. */
const HTTP_URI = /^https?:\/\/[^/?#@\\]+(?:[/?#]|$)/i;
const URI_CHARACTERS = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/;
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

/** Normalizes a URI for `htu` (RFC 9449 4.3, RFC 3986 6.2.2 and 6.2.3); null if it is not an http or https URI. */
export function targetUri(uri: string): string | null {
  if (!HTTP_URI.test(uri) || !URI_CHARACTERS.test(uri) || BAD_ESCAPE.test(uri) || !URL.canParse(uri))
    return null;
  // The URL class lower-cases scheme and host, drops the default port and removes dot segments.
  const { protocol, host, pathname } = new URL(uri);
  return `${protocol}//${host}${pathname.replaceAll(/%[0-9a-f]{2}/gi, normalizeEscape)}`;
}

/** RFC 3986 6.2.2.1 and 6.2.2.2: escapes are upper-case, and unreserved characters are not escaped. */
function normalizeEscape(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return /[\w\-.~]/.test(character) ? character : escape.toUpperCase();
}

/**
 * Returns the public URL of a request. Ignores the Host header, which the sender chooses.
 * @param address public base URL without a trailing slash
 */
export function publicUri(address: string, path: string): string {
  const [withoutQuery = ''] = path.split('?', 1);
  return address + (withoutQuery.startsWith('/') ? withoutQuery : `/${withoutQuery}`);
}
