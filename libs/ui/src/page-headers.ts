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
  readonly imageOrigins?: readonly string[];
  readonly script?: boolean;
  /** True if the page shows pages of this origin in frames. */
  readonly frames?: boolean;
  /** True if the only form of the page posts to another site, which may redirect to any URL, even of another scheme. */
  readonly submitsElsewhere?: boolean;
}

export function contentSecurityPolicy(
  { imageOrigins = [], script = false, frames = false, submitsElsewhere = false }: PageSources,
  styleSource: string,
): string {
  return [
    "default-src 'none'",
    `style-src ${styleSource}`,
    ["img-src 'self'", ...imageOrigins].join(' '),
    ...(script ? ["script-src 'self'"] : []),
    ...(frames ? ["frame-src 'self'"] : []),
    ...(submitsElsewhere ? [] : ["form-action 'self'"]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
