import type { ClientType, OAuthClient } from './client.js';
import { LIMITS } from './parameters.js';

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);
const LOOPBACK =
  /^http:\/\/(?<host>127\.0\.0\.1|\[::1\]|localhost)(?::(?<port>[1-9]\d{0,4}))?(?<path>\/[^?]*)?(?<query>\?.*)?$/;
// RFC 8252 7.1: a reversed domain name, which only its owner can claim.
const REVERSE_DOMAIN = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$/;

/**
 * Whether the redirect URI of a request is one that the client registered. RFC 9700 2.1: "authorization servers MUST
 * utilize exact string matching except for port numbers in localhost redirection URIs of native apps". Normalizing either
 * side would open a gap between what was registered and where the browser goes.
 *
 * The token request's redirect URI is compared with that of the authorization request, in REDEEM (libs/grants/src/grant.scripts.ts).
 */
export function isRegistered(
  redirectUri: string,
  { redirectUris, type }: Pick<OAuthClient, 'redirectUris' | 'type'>,
): boolean {
  return redirectUris.some(
    (registered) =>
      registered === redirectUri || (type === 'public' && differInPortOnly(registered, redirectUri)),
  );
}

/**
 * RFC 8252 7.3: "The authorization server MUST allow any port to be specified at the time of the request". 8.3 recommends
 * against localhost, because each machine resolves it itself. Native applications use it anyway, so it is allowed if the
 * operator registered it. An empty path equals "/" (RFC 3986 6.2.3).
 */
function differInPortOnly(registered: string, requested: string): boolean {
  const ours = LOOPBACK.exec(registered)?.groups;
  const theirs = LOOPBACK.exec(requested)?.groups;
  if (!ours || !theirs || Number(theirs['port'] ?? 80) > 65_535) return false;
  const samePath = (ours['path'] ?? '/') === (theirs['path'] ?? '/');
  return ours['host'] === theirs['host'] && samePath && ours['query'] === theirs['query'];
}

type Check = (uri: string, url: URL, type: ClientType) => string | null;

/** In this order, because an earlier problem would make a later message misleading. */
const CHECKS: readonly Check[] = [noFragment, noUserinfo, knownScheme, noDotSegment, asBrowsersSendIt];

/**
 * Checks a redirect URI before it is registered. Requests are compared with it character by character, so only a URI that
 * browsers follow unchanged is useful. Private-use schemes follow RFC 8252 7.1, https 7.2, loopback 7.3. Known deviation
 * from RFC 9700 4.1.3, which keeps http for native applications: a confidential client may register loopback addresses as
 * well, so that its developers can try it out.
 *
 * @returns null, or what is wrong and what to do
 */
export function registrationProblem(uri: string, type: ClientType): string | null {
  if (uri.length > LIMITS.redirect_uri) return `is longer than ${LIMITS.redirect_uri} characters: shorten it`;
  if (!/^[!-~]+$/.test(uri))
    return 'has spaces, control or non-ASCII characters, or is empty: percent-encode them';
  if (/%(?![0-9a-f]{2})/i.test(uri))
    return 'has a % with no two hexadecimal digits after it: write a plain % as %25';
  // Before parsing, because a port or scheme that is a wildcard makes it no URI at all.
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
    return LOOPBACK_HOSTS.has(hostname)
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

/** A browser would resolve them and go to an address that was not registered. */
function noDotSegment(uri: string): string | null {
  const path = uri.split('?', 1)[0] ?? '';
  return /(^|[/\\])(\.|%2e){1,2}($|[/\\])/i.test(path)
    ? 'has . or .. as a path segment: write the path it leads to'
    : null;
}

function asBrowsersSendIt(uri: string, { href }: URL): string | null {
  return href === uri || href === `${uri}/` ? null : `is not in the form that browsers send: write ${href}`;
}
