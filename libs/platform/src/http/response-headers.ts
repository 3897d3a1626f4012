export type ResponseHeaders = Readonly<Record<string, string>>;

/** Headers that docs/security.md explains. Pages send more headers (libs/ui/src/html.ts). */
const SECURITY_HEADERS: ResponseHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
/** RFC 6797 7.2: "MUST NOT include the STS header field in HTTP responses conveyed over non-secure transport" */
const HTTPS_HEADERS: ResponseHeaders = { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' };

/** @param own headers of the app, which override the defaults */
export function responseHeaders(publicUrl: string, own: ResponseHeaders = {}): ResponseHeaders {
  return { ...SECURITY_HEADERS, ...(publicUrl.startsWith('https:') && HTTPS_HEADERS), ...own };
}
