import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Addresses, ProbeResponse } from './address.checks.js';
import { check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_HEADER_CHECKS = {
  'cookie-weak': check(
    'error',
    'cookies are Secure, HttpOnly, SameSite and bound to the host',
    'ASVS 5.0 3.3.1',
    'ASVS 5.0 3.3.2',
    'ASVS 5.0 3.3.3',
    'ASVS 5.0 3.3.4',
  ),
  'header-hsts': check('warning', 'browsers use https for a year, in subdomains too', 'ASVS 5.0 3.4.1'),
  'header-framing': check(
    'error',
    'pages cannot be framed, and load nothing from other sites',
    'RFC 9700 4.16',
    'ASVS 5.0 3.4.3',
    'ASVS 5.0 3.4.6',
  ),
  'header-nosniff': check('warning', 'browsers do not guess content types', 'ASVS 5.0 3.4.4'),
  'header-referrer': check(
    'warning',
    'codes and states do not leak through Referer',
    'RFC 9700 4.2.4',
    'ASVS 5.0 3.4.5',
  ),
  'header-cache': check('warning', 'responses are not cached', 'RFC 6749 5.1', 'ASVS 5.0 14.3.2'),
  'authorize-cors': check(
    'error',
    'scripts of other sites cannot call the authorization endpoint',
    'RFC 9700 2.6',
    'ASVS 5.0 3.4.2',
  ),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_HEADER_CHECKS);

/** Examines the login page, because the page sets cookies and has the headers of every page. */
export function examineLoginPage({ AUTH_URL }: Addresses, answer: ProbeResponse): Finding[] {
  const subject = AUTH_URL + ENDPOINTS.login;
  const policy = answer.headers.get('content-security-policy') ?? '';
  const findings = answer.headers.getSetCookie().flatMap((cookie) => weakCookie(AUTH_URL, subject, cookie));
  const add = (...args: Parameters<typeof finding>) => findings.push(...finding(...args));
  const isLocked =
    /frame-ancestors 'none'/.test(policy) &&
    (/default-src 'none'/.test(policy) || /object-src 'none'/.test(policy)) &&
    !/unsafe-(inline|eval)/.test(policy);
  if (!isLocked)
    add(
      'header-framing',
      subject,
      policy === '' ? 'there is no Content-Security-Policy' : `Content-Security-Policy is ${policy}`,
    );
  if (!/^no-referrer$|same-origin$/.test(answer.headers.get('referrer-policy') ?? ''))
    add('header-referrer', subject, 'Referrer-Policy is missing or weak');
  if (answer.headers.has('access-control-allow-origin'))
    add('authorize-cors', subject, 'it has Access-Control-Allow-Origin');
  return [...findings, ...examineHeaders(AUTH_URL, subject, answer)];
}

export function examineHeaders(address: string, subject: string, { headers }: ProbeResponse): Finding[] {
  const findings: Finding[] = [];
  const add = (...args: Parameters<typeof finding>) => findings.push(...finding(...args));
  const hsts = headers.get('strict-transport-security') ?? '';
  const year = 365 * 24 * 60 * 60;
  if (
    address.startsWith('https:') &&
    !(Number(/max-age="?(\d+)/i.exec(hsts)?.[1] ?? 0) >= year && /includeSubDomains/i.test(hsts))
  )
    add('header-hsts', subject, `Strict-Transport-Security is ${hsts === '' ? 'missing' : hsts}`);
  if (headers.get('x-content-type-options')?.toLowerCase() !== 'nosniff')
    add('header-nosniff', subject, 'X-Content-Type-Options is not nosniff');
  if (!/no-store/i.test(headers.get('cache-control') ?? ''))
    add('header-cache', subject, `Cache-Control is ${headers.get('cache-control') ?? 'missing'}`);
  return findings;
}

/** @param cookie Set-Cookie header, whose value must not be printed */
function weakCookie(address: string, subject: string, cookie: string): Finding[] {
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
  if (missing.length === 0) return [];
  return finding(
    isHttps ? 'cookie-weak.https' : 'cookie-weak',
    subject,
    `the cookie ${name} lacks ${missing.join(', ')}`,
  );
}
