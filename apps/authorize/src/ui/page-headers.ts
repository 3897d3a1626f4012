/**
 * The headers of every response of this app. They replace and complete those of every service
 * (libs/platform/src/http/request-hooks.ts); a page adds its Content-Security-Policy. `docs/security.md` explains each. Some
 * repeat the service's: the answer to a request that Node cannot parse has these alone.
 */
export const PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  // Applications open this app in a popup and use `window.opener` once the popup is back on their site;
  // same-origin would break that link for good.
  'Cross-Origin-Opener-Policy': 'unsafe-none',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Pages use no device feature. Only names that Chromium knows: it warns about every other.
  'Permissions-Policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** What a page needs beside its own style and this site. */
export interface PageSources {
  /** Sources that its forms may lead to (form-action). */
  readonly formTargets?: readonly string[];
  /** Origins of the pictures that it shows (img-src). */
  readonly imageOrigins?: readonly string[];
  /** Whether it loads our script. */
  readonly script?: boolean;
}

/** The Content-Security-Policy of a page. @param styleSource of the stylesheet */
export function contentSecurityPolicy(
  { formTargets = [], imageOrigins = [], script = false }: PageSources,
  styleSource: string,
): string {
  return [
    "default-src 'none'",
    `style-src ${styleSource}`,
    ["img-src 'self'", ...imageOrigins].join(' '),
    ...(script ? ["script-src 'self'"] : []),
    ["form-action 'self'", ...formTargets].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

// A callback on the developer's machine may continue to the front end of the same application, on another port.
const LOOPBACK_SOURCES = ['http://localhost:*', 'http://127.0.0.1:*'];

/**
 * The form-action sources for a form whose answer redirects to a redirect URI. Chromium applies form-action to every
 * redirect that follows, and stops silently: a callback at api.example.com that redirects to www.example.com would
 * never arrive. So all of https is allowed beside the callback's origin, and the local machine for local callbacks.
 */
export function formTargets(redirectUri: string): string[] {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return [protocol];
  // CSP has no IPv6 addresses, and a registered host may hold characters with a meaning in a policy.
  const origin = /^[a-z0-9.-]+$/.test(hostname) ? `${protocol}//${host}` : protocol;
  return protocol === 'https:' ? [origin, 'https:'] : [origin, ...LOOPBACK_SOURCES, 'https:'];
}
