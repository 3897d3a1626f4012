import type { Page } from './document.js';
import { STYLESHEET_SOURCE } from './stylesheet.js';

/** What a page may load and where its forms may lead: its own style, and this site. */
export function contentSecurityPolicy({
  formTargets = [],
  imageOrigins = [],
  script = false,
}: Pick<Page, 'formTargets' | 'imageOrigins' | 'script'> = {}): string {
  return [
    "default-src 'none'",
    `style-src ${STYLESHEET_SOURCE}`,
    ["img-src 'self'", ...imageOrigins].join(' '),
    ...(script ? ["script-src 'self'"] : []),
    ["form-action 'self'", ...formTargets].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
