import { ENDPOINTS } from '#oauth/endpoints.js';
import { SETTING_VARIABLES } from '#operations/administration.options.js';
import { declareChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_ADDRESS_CHECKS = declareChecks({
  'address-unencrypted':
    'error: AUTH_URL, BASE_URL and API_URL are https [RFC 6749 3.1; RFC 6749 3.2; RFC 6750 5.3; RFC 9700 2.6; ASVS 5.0 12.2.1]',
  'address-loopback': 'info: the addresses can be reached from other machines',
  'address-shared': 'info: each application has its own host name [ASVS 5.0 3.5.4]',
  'address-unreachable': 'error: AUTH_URL, BASE_URL and API_URL answer',
  'address-http': 'warning: plain http redirects to https or is refused [ASVS 5.0 12.2.1]',
  'path-not-routed': 'error: each public path leads to its app',
  'metadata-wrong':
    'error: the metadata names this issuer and the addresses of the settings [RFC 8414 3.3; RFC 9728 3.3]',
  'metadata-weak':
    'error: the metadata offers only S256 for PKCE, only codes, and iss in responses [RFC 9700 2.1.1; RFC 9700 2.1.2; RFC 9700 2.4; RFC 9207 3; ASVS 5.0 10.4.4; ASVS 5.0 10.4.6]',
  'api-open':
    'error: the API refuses a request without a token, and says how to get one [RFC 6750 3; RFC 9728 5.1]',
  'internal-port-public': 'warning: metrics and health cannot be reached from outside [ASVS 5.0 13.4.5]',
});

const finding = findingOf(DOCTOR_ADDRESS_CHECKS);

/** Response to a GET request without credentials from an unknown origin. Redirects are not followed. */
export interface ProbeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface Addresses {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly apiUrl: string;
}

export function examineAddresses(addresses: Addresses): Finding[] {
  const named = (Object.keys(addresses) as (keyof Addresses)[]).map(
    (setting) => [SETTING_VARIABLES[setting], addresses[setting]] as const,
  );
  const findings = named.flatMap(([variable, address]) => {
    const subject = `${variable} ${address}`;
    if (isLoopbackUrl(address)) return finding('address-loopback', subject, 'only this machine can reach it');
    if (address.startsWith('https:')) return [];
    return finding(
      'address-unencrypted',
      subject,
      'codes, tokens and secrets cross the network unencrypted',
      { variable },
    );
  });
  const shared = named.flatMap(([variable, address], index) => {
    const { hostname } = new URL(address);
    const other = named.slice(0, index).find(([, earlier]) => new URL(earlier).hostname === hostname);
    if (!other || isLoopbackUrl(address)) return [];
    return finding(
      'address-shared',
      `${variable} ${address}`,
      `${other[0]} has the same host name: the browser sends the cookies of one to the other`,
    );
  });
  return [...findings, ...shared];
}

export function isLoopbackUrl(address: string): boolean {
  const { hostname } = new URL(address);
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d+){3}$/.test(hostname)
  );
}

/** @param answer response to an `http://` request to the host of an https address; null without a response */
export function examinePlainHttp(address: string, answer: ProbeResponse | null): Finding[] {
  if (!answer) return [];
  const target = answer.headers.get('location') ?? '';
  if (answer.status >= 300 && answer.status < 400 && /^https:/i.test(target)) return [];
  if (answer.status >= 400) return [];
  return finding('address-http', address, `http:// answers ${answer.status} and does not redirect to https`);
}

/** RFC 8414 3.3: the issuer must be the URL that the metadata were read from. */
export function examineMetadata({ authUrl, baseUrl }: Addresses, answer: ProbeResponse): Finding[] {
  const subject = baseUrl + ENDPOINTS.authorizationServerMetadata;
  const metadata = fieldsOf(answer);
  if (!metadata) return noMetadata(subject, answer);
  const wrong = differences(metadata, {
    issuer: baseUrl,
    authorization_endpoint: authUrl + ENDPOINTS.authorize,
    token_endpoint: baseUrl + ENDPOINTS.token,
    revocation_endpoint: baseUrl + ENDPOINTS.revoke,
    introspection_endpoint: baseUrl + ENDPOINTS.introspect,
    pushed_authorization_request_endpoint: baseUrl + ENDPOINTS.par,
  });
  const weak = differences(metadata, {
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  const grants = metadata['grant_types_supported'];
  for (const grant of ['implicit', 'password'])
    if (Array.isArray(grants) && grants.includes(grant)) weak.push(`grant_types_supported has ${grant}`);
  return [
    ...wrong.flatMap((problem) => wrongMetadata(subject, problem)),
    ...weak.flatMap((problem) => finding('metadata-weak', subject, problem)),
  ];
}

/** RFC 9728 3.3: the resource must be the URL that the metadata were read from. */
export function examineResourceMetadata({ apiUrl, baseUrl }: Addresses, answer: ProbeResponse): Finding[] {
  const subject = apiUrl + ENDPOINTS.protectedResourceMetadata;
  const metadata = fieldsOf(answer);
  if (!metadata) return noMetadata(subject, answer);
  return differences(metadata, { resource: apiUrl, authorization_servers: [baseUrl] }).flatMap((problem) =>
    wrongMetadata(subject, problem),
  );
}

export function examineApi({ apiUrl }: Addresses, answer: ProbeResponse): Finding[] {
  const subject = apiUrl + ENDPOINTS.me;
  if (answer.status !== 401)
    return finding('api-open', subject, `it answers ${answer.status} to a request without a token, not 401`);
  if (/^Bearer\b.*resource_metadata="/.test(answer.headers.get('www-authenticate') ?? '')) return [];
  return finding('api-open.header', subject, 'its 401 lacks WWW-Authenticate: Bearer with resource_metadata');
}

/** Every response of our apps has these headers; a proxy or another application does not send all of them. */
function isOurs({ headers }: ProbeResponse): boolean {
  const policy = headers.get('content-security-policy') ?? '';
  return (
    (policy.startsWith("default-src 'none'") && policy.includes("frame-ancestors 'none'")) ||
    (headers.get('referrer-policy') === 'no-referrer' && headers.get('x-frame-options') === 'DENY')
  );
}

/** Reports a response that is not from an app of this service. A proxy's 429 says nothing about the route. */
export function examineRoute(app: string, url: string, answer: ProbeResponse): Finding[] {
  if (answer.status === 429 || isOurs(answer)) return [];
  return finding(
    'path-not-routed',
    url,
    `it answers ${answer.status}, and the response is not from the ${app} app`,
    { app },
  );
}

export function examineMetrics(address: string, answer: ProbeResponse): Finding[] {
  if (answer.status !== 200 || !/^# (HELP|TYPE) /m.test(answer.body)) return [];
  return finding('internal-port-public', `${address}/metrics`, 'it exposes the metrics of the service');
}

function fieldsOf({ status, body }: ProbeResponse): Readonly<Record<string, unknown>> | null {
  if (status !== 200) return null;
  try {
    const fields: unknown = JSON.parse(body);
    return typeof fields === 'object' ? (fields as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function differences(
  given: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(expected)
    .filter(([name, value]) => JSON.stringify(given[name]) !== JSON.stringify(value))
    .map(([name, value]) => `${name} is ${shown(given[name])}, not ${shown(value)}`);
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 200);
}

function noMetadata(subject: string, { status }: ProbeResponse): Finding[] {
  return finding(
    'metadata-wrong.missing',
    subject,
    status === 200 ? 'it is not a JSON object' : `it answers ${status}`,
  );
}

function wrongMetadata(subject: string, problem: string): Finding[] {
  return finding('metadata-wrong', subject, problem);
}
