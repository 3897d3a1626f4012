import { ENDPOINTS, PUBLIC_PATHS } from '#oauth/endpoints.js';
import {
  DOCTOR_ADDRESS_CHECKS,
  type Addresses,
  type ProbeResponse,
  examineAddresses,
  examineApi,
  examineMetadata,
  examineMetrics,
  examinePlainHttp,
  examineResourceMetadata,
  examineRoute,
  isLoopbackUrl,
} from './address.checks.js';
import { type Area, type Finding, findingOf } from './finding.js';
import { examineHeaders, examineLoginPage, DOCTOR_HEADER_CHECKS } from './header.checks.js';

const finding = findingOf(DOCTOR_ADDRESS_CHECKS);

const TIMEOUT_MS = 5_000;
/** Origin of no client. The response shows whether CORS permits every origin. */
const FOREIGN_ORIGIN = 'https://doctor.invalid';

export function addressArea({ authUrl, baseUrl, apiUrl }: Addresses): Area {
  const addresses = { authUrl, baseUrl, apiUrl };
  return {
    name: 'addresses',
    checks: { ...DOCTOR_ADDRESS_CHECKS, ...DOCTOR_HEADER_CHECKS },
    examine: () => examine(addresses),
  };
}

async function examine(addresses: Addresses): Promise<Finding[]> {
  const { authUrl, baseUrl, apiUrl } = addresses;
  const sites = await Promise.all([
    ask(authUrl, ENDPOINTS.login, (answer) => examineLoginPage(addresses, answer)),
    ask(baseUrl, ENDPOINTS.authorizationServerMetadata, (answer) => [
      ...examineMetadata(addresses, answer),
      ...examineTransport(baseUrl, ENDPOINTS.authorizationServerMetadata, answer),
    ]),
    ask(apiUrl, ENDPOINTS.protectedResourceMetadata, (answer) => examineResourceMetadata(addresses, answer)),
    ask(apiUrl, ENDPOINTS.me, (answer) => [
      ...examineApi(addresses, answer),
      ...examineHeaders(apiUrl, apiUrl + ENDPOINTS.me, answer),
    ]),
    ...routes(addresses),
    ...[...new Set([authUrl, baseUrl, apiUrl])].flatMap((address) => [
      ask(address, '/metrics', (answer) => examineMetrics(address, answer)),
      plainHttp(address),
    ]),
  ]);
  return [...examineAddresses(addresses), ...distinct(sites.flat())];
}

function routes({ authUrl, baseUrl, apiUrl }: Addresses): Promise<Finding[]>[] {
  const apps = { authorize: authUrl, token: baseUrl, resource: apiUrl };
  return (Object.keys(apps) as (keyof typeof apps)[]).map((app) => routesOf(app, apps[app]));
}

/** Requests one path after the other, because the apps also answer the other areas at this time. */
async function routesOf(app: keyof typeof PUBLIC_PATHS, address: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const path of PUBLIC_PATHS[app]) {
    const found = await ask(address, path, (answer) => examineRoute(app, address + path, answer));
    findings.push(...found);
    // Each further path would wait for the timeout.
    if (found.some(({ check }) => check === 'address-unreachable')) break;
  }
  return findings;
}

/** Skips `header-cache`, because metadata may be cached. */
function examineTransport(address: string, path: string, answer: ProbeResponse): Finding[] {
  return examineHeaders(address, address + path, answer).filter(({ check }) => check !== 'header-cache');
}

async function ask(
  address: string,
  path: string,
  examineAnswer: (answer: ProbeResponse) => Finding[],
): Promise<Finding[]> {
  try {
    return examineAnswer(await get(address + path));
  } catch (error) {
    return finding('address-unreachable', address, `it does not answer: ${reasonOf(error)}`);
  }
}

async function plainHttp(address: string): Promise<Finding[]> {
  if (!address.startsWith('https:') || isLoopbackUrl(address)) return [];
  const { hostname } = new URL(address);
  return examinePlainHttp(address, await get(`http://${hostname}/`).catch(() => null));
}

async function get(url: string): Promise<ProbeResponse> {
  const answer = await fetch(url, {
    redirect: 'manual',
    headers: { Origin: FOREIGN_ORIGIN },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

/** An unreachable address fails several requests, but is reported once. */
function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}
