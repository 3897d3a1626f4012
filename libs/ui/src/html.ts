/** Markup that `html` does not escape. */
export class Html {
  constructor(readonly text: string) {}
}

export type Fragment = Html | string | number | false | null | undefined | readonly Fragment[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Bidi control characters (section 2 of UAX 9), or a complete isolate made by `isolated`. */
const BIDI_CONTROLS = /\u2068[^\u202a-\u202e\u2066-\u2069]*\u2069|[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces controls outside complete isolates: an unterminated control would reach beyond its element, and a stray
 * terminator would close the enclosing isolate.
 */
function neutralizeBidi(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, (match) => (match.length > 1 ? match : '\ufffd'));
}

/** Wraps plain text in a first strong isolate (section 2.4 of UAX 9), as `<bdi>` does in markup. */
export function isolated(text: string): string {
  return `\u2068${neutralizeBidi(text).replaceAll(/[\u2068\u2069]/g, '')}\u2069`;
}

/**
 * Escapes values for elements and quoted attributes, and replaces bidi controls. Does not change `Html` values. The
 * caller must quote attributes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return new Html(strings.map((text, index) => text + render(values[index])).join(''));
}

/** Escapes a value that the browser submits but does not show. Keeps bidi controls. */
export function unchanged(text: string): Html {
  return new Html(escaped(text));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');
}

function render(value: Fragment): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escaped(neutralizeBidi(String(value)));
  return value.map(render).join('');
}

/**
 * Element of `<head>` that continues at the URL, in place of a redirect after a form. Chromium applies the
 * `form-action` of a page to every redirect that follows its forms, including redirects of other sites, and blocks a
 * redirect without a message. The response to a form must therefore be a page. Browsers replace this page in their
 * history.
 */
export function refreshTo(url: string): Html {
  return html`<meta http-equiv="refresh" content="0; url=${unchanged(url)}" />`;
}

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
