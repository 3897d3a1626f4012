/**
 * Headers of pages, which docs/security.md explains. Some repeat the headers of all services
 * (libs/platform/src/http/response-headers.ts), because the response to an unparsable request has only these headers.
 */
export const PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  // With same-origin, `window.opener` would be missing for applications that open pages in a popup.
  'Cross-Origin-Opener-Policy': 'unsafe-none',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  // Lists only names that Chromium supports, because it warns about all others.
  'Permissions-Policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'DENY',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
} as const;

/** Sources that a page needs in addition to its own style and this origin. */
export interface PageSources {
  readonly formTargets?: readonly string[];
  readonly imageOrigins?: readonly string[];
  readonly script?: boolean;
  /** True if the page shows pages of this origin in frames. */
  readonly frames?: boolean;
  /** False if every form of the page posts to another site. */
  readonly submitsHere?: boolean;
}

export function contentSecurityPolicy(
  { formTargets = [], imageOrigins = [], script = false, frames = false, submitsHere = true }: PageSources,
  styleSource: string,
): string {
  return [
    "default-src 'none'",
    `style-src ${styleSource}`,
    ["img-src 'self'", ...imageOrigins].join(' '),
    ...(script ? ["script-src 'self'"] : []),
    ...(frames ? ["frame-src 'self'"] : []),
    ['form-action', ...(submitsHere ? ["'self'"] : []), ...formTargets].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

// A callback on a developer's machine may redirect to the application's front end on another port.
const LOOPBACK_SOURCES = ['http://localhost:*', 'http://127.0.0.1:*'];

/**
 * Allows any https origin for a web callback, and also every local port for a local callback. Chromium applies
 * form-action to every redirect, and would block a callback at api.example.com that redirects to www.example.com.
 */
export function formTargets(redirectUri: string): string[] {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return [protocol];
  // CSP does not support IPv6 addresses, and a registered host may contain characters that are special in a policy.
  const origin = /^[a-z0-9.-]+$/.test(hostname) ? `${protocol}//${host}` : protocol;
  return protocol === 'https:' ? [origin, 'https:'] : [origin, ...LOOPBACK_SOURCES, 'https:'];
}
