import type { ClientType } from '#database/client/client.js';

const MAX_LENGTH = 2_000;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
// RFC 8252 7.1: a reversed domain name, which its owner alone has a claim to.
const REVERSE_DOMAIN = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$/;

type Check = (uri: string, url: URL, type: ClientType) => string | null;

/** In this order: an earlier problem would make a later check's message misleading. */
const CHECKS: readonly Check[] = [noFragment, noUserinfo, knownScheme, noDotSegment, asBrowsersSendIt];

/**
 * Checks a redirect URI before it is registered. Requests are compared with it character by character
 * (RFC 9700 2.1), so only one that a browser follows unchanged is of use. Private-use schemes as RFC 8252 7.1, https
 * as 7.2, loopback as 7.3. Known deviation from RFC 9700 4.1.3, which keeps http for native applications: a confidential
 * client may register loopback addresses as well, on which its developers try it out.
 *
 * @returns null, or what is wrong and what to do
 */
export function checkRedirectUri(uri: string, type: ClientType): string | null {
  if (uri.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters: shorten it`;
  if (!/^[!-~]+$/.test(uri))
    return 'has spaces, control or non-ASCII characters, or is empty: percent-encode them';
  if (/%(?![0-9a-f]{2})/i.test(uri))
    return 'has a % with no two hexadecimal digits after it: write a plain % as %25';
  // Before it is parsed: a port or scheme that is a wildcard makes it no URI at all.
  if (uri.includes('*')) return 'has a wildcard: register each address in full';
  if (!URL.canParse(uri))
    return 'is not an absolute URI: write it in full, like https://app.example.com/callback';
  const url = new URL(uri);
  for (const check of CHECKS) {
    const problem = check(uri, url, type);
    if (problem) return problem;
  }
  return null;
}

/** RFC 6749 3.1.2: "The endpoint URI MUST NOT include a fragment component." */
function noFragment(uri: string): string | null {
  return uri.includes('#') ? 'has a fragment: remove the # and what follows it' : null;
}

/** `https://trusted.example@evil.example/` reads like the wrong site. */
function noUserinfo(uri: string, url: URL): string | null {
  const authority = /^[^:]+:\/\/([^/?]*)/.exec(uri)?.[1] ?? '';
  return url.username || url.password || authority.includes('@')
    ? 'has a user name or password: remove everything before the @'
    : null;
}

function knownScheme(uri: string, { protocol, hostname }: URL, type: ClientType): string | null {
  const scheme = protocol.slice(0, -1);
  if (scheme === 'https') return null;
  if (scheme === 'http') {
    return LOOPBACK.has(hostname)
      ? null
      : 'is not encrypted: use https (http is for 127.0.0.1, [::1] and localhost)';
  }
  if (type === 'confidential')
    return `has the scheme ${scheme}: use https (other schemes are for public clients)`;
  if (!REVERSE_DOMAIN.test(scheme)) {
    return `has the scheme ${scheme}: use https, or a reversed domain name of yours like com.example.app`;
  }
  return /^[^:]+:\/./.test(uri) ? null : `has no path: write it like ${scheme}:/callback`;
}

/** A browser would resolve them, and end up at an address that was not registered. */
function noDotSegment(uri: string): string | null {
  const path = uri.split('?', 1)[0] ?? '';
  return /(^|[/\\])(\.|%2e){1,2}($|[/\\])/i.test(path)
    ? 'has . or .. as a path segment: write the path it leads to'
    : null;
}

function asBrowsersSendIt(uri: string, { href }: URL): string | null {
  return href === uri || href === `${uri}/` ? null : `is not in the form that browsers send: write ${href}`;
}
