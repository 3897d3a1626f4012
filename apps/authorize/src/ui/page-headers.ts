/**
 * What every answer of this app carries besides its Content-Security-Policy, whatever became of the request.
 * `docs/security.md` says what each is for.
 */
export const PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  // Applications open this app in a popup and hear from it through `window.opener` when it is back with them;
  // same-origin would cut that tie for good.
  'Cross-Origin-Opener-Policy': 'unsafe-none',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Pages use nothing of the device; named is what Chromium knows, since it complains about every other name.
  'Permissions-Policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;
