import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Addresses, ProbeResponse } from './address.checks.js';
import { declareChecks, type Finding, Findings } from './finding.js';

export const DOCTOR_HEADER_CHECKS = declareChecks({
  'cookie-weak':
    'error: cookies are Secure, HttpOnly, SameSite and bound to the host [ASVS 5.0 3.3.1; ASVS 5.0 3.3.2; ASVS 5.0 3.3.3; ASVS 5.0 3.3.4]',
  'header-hsts': 'warning: browsers use https for a year, in subdomains too [ASVS 5.0 3.4.1]',
  'header-framing':
    'error: pages cannot be framed, and load nothing from other sites [RFC 9700 4.16; ASVS 5.0 3.4.3; ASVS 5.0 3.4.6]',
  'header-nosniff': 'warning: browsers do not guess content types [ASVS 5.0 3.4.4]',
  'header-referrer': 'warning: codes and states do not leak through Referer [RFC 9700 4.2.4; ASVS 5.0 3.4.5]',
  'header-cache': 'warning: responses are not cached [RFC 6749 5.1; ASVS 5.0 14.3.2]',
  'authorize-cors':
    'error: scripts of other sites cannot call the authorization endpoint [RFC 9700 2.6; ASVS 5.0 3.4.2]',
});

const YEAR_S = 365 * 24 * 60 * 60;

type HeaderFindings = Findings<keyof typeof DOCTOR_HEADER_CHECKS>;

/** Examines the login page, because the page sets cookies and has the headers of every page. */
export function examineLoginPage({ authUrl }: Addresses, answer: ProbeResponse): Finding[] {
  const findings = new Findings(DOCTOR_HEADER_CHECKS, authUrl + ENDPOINTS.login);
  const { headers } = answer;
  for (const cookie of headers.getSetCookie()) addWeakCookie(findings, authUrl, cookie);
  const policy = headers.get('content-security-policy') ?? '';
  const isLocked =
    /frame-ancestors 'none'/.test(policy) &&
    (/default-src 'none'/.test(policy) || /object-src 'none'/.test(policy)) &&
    !/unsafe-(inline|eval)/.test(policy);
  const found =
    policy === '' ? 'there is no Content-Security-Policy' : `Content-Security-Policy is ${policy}`;
  if (!isLocked) findings.add('header-framing', found);
  if (!/^no-referrer$|same-origin$/.test(headers.get('referrer-policy') ?? ''))
    findings.add('header-referrer', 'Referrer-Policy is missing or weak');
  if (headers.has('access-control-allow-origin'))
    findings.add('authorize-cors', 'it has Access-Control-Allow-Origin');
  return [...findings.list, ...examineHeaders(authUrl, authUrl + ENDPOINTS.login, answer)];
}

export function examineHeaders(address: string, subject: string, { headers }: ProbeResponse): Finding[] {
  const findings = new Findings(DOCTOR_HEADER_CHECKS, subject);
  const hsts = headers.get('strict-transport-security') ?? '';
  const isForYear = Number(/max-age="?(\d+)/i.exec(hsts)?.[1] ?? 0) >= YEAR_S;
  if (address.startsWith('https:') && !(isForYear && /includeSubDomains/i.test(hsts)))
    findings.add('header-hsts', `Strict-Transport-Security is ${hsts === '' ? 'missing' : hsts}`);
  if (headers.get('x-content-type-options')?.toLowerCase() !== 'nosniff')
    findings.add('header-nosniff', 'X-Content-Type-Options is not nosniff');
  if (!/no-store/i.test(headers.get('cache-control') ?? ''))
    findings.add('header-cache', `Cache-Control is ${headers.get('cache-control') ?? 'missing'}`);
  return findings.list;
}

/** @param cookie Set-Cookie header, whose value must not be printed */
function addWeakCookie(findings: HeaderFindings, address: string, cookie: string): void {
  const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim());
  const [name = ''] = pair.split('=', 1);
  const has = (attribute: RegExp) => attributes.some((text) => attribute.test(text));
  const isHttps = address.startsWith('https:');
  const missing = [
    !has(/^HttpOnly$/i) && 'HttpOnly',
    !has(/^SameSite=(Lax|Strict)$/i) && 'SameSite=Lax',
    isHttps && !has(/^Secure$/i) && 'Secure',
    isHttps && !name.startsWith('__Host-') && 'the prefix __Host-',
    has(/^Domain=/i) && 'to be without Domain',
  ].filter((gap) => gap !== false);
  if (missing.length > 0)
    findings.add(
      isHttps ? 'cookie-weak.https' : 'cookie-weak',
      `the cookie ${name} lacks ${missing.join(', ')}`,
    );
}
