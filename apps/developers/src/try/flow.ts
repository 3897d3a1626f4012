import { createHash, randomBytes } from 'node:crypto';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { guideEntry } from '#error-guide/error-guide.js';
import type { GuideEntry } from '#error-guide/guide-entry.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { scopeTokens } from '#oauth/scope.js';
import { redactCredentials } from '#platform/logging/request-log.js';
import { authorizationUrl, type Origins } from '../applications/request-examples.js';

/** A flow of an owner, step by step, kept in the session. */
export interface Flow {
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string;
  readonly nonce: string | null;
  readonly verifier: string;
  readonly returned?: ReturnedAddress;
  readonly tokens?: Tokens | null;
  /** Latest exchange of each step. */
  readonly exchanges?: Readonly<Partial<Record<Step, Exchange>>>;
}

export const STEPS = ['exchange', 'call', 'refresh', 'revoke'] as const;
export type Step = (typeof STEPS)[number];

interface Tokens {
  readonly access: string;
  readonly refresh: string | null;
}

/** Request and response, without secrets and with shortened tokens. */
export interface Exchange {
  readonly request: string;
  readonly status: number;
  readonly response: string;
  readonly finding: Finding | null;
}

/** Error of a response, with its entry in the error guide. */
export interface Finding {
  readonly error: string;
  readonly description: string;
  readonly reference: string | null;
  readonly entry: Pick<GuideEntry, 'title' | 'meaning' | 'remedies'> | null;
  /** Name of the entry, if the response has an `error_uri`. */
  readonly check?: string;
}

type AddressProblem = 'address' | 'redirect' | 'state' | 'iss' | 'code';

export interface ReturnedAddress {
  readonly code: string | null;
  readonly problem: AddressProblem | null;
  readonly finding: Finding | null;
}

/** The portal has no keys of an application, and pushes no requests. */
export function isTriable(client: OwnedClient): boolean {
  const { redirectUris, requirePar, dpopBound, profile } = client;
  return redirectUris.length > 0 && !requirePar && !dpopBound && profile === null && !hasKeys(client);
}

const isOpenId = (scope: string): boolean => scopeTokens(scope).includes('openid');

/** Limits in characters of what Redis stores of the input. */
const MAX_SCOPE = 1_000;
const MAX_ADDRESS = 8_000;

export function newFlow(redirectUri: string, scope: string): Flow {
  const random = () => randomBytes(32).toString('base64url');
  const nonce = isOpenId(scope) ? random() : null;
  return { redirectUri, scope: scope.slice(0, MAX_SCOPE), state: random(), nonce, verifier: random() };
}

export function flowUrl(origins: Origins, clientId: string, flow: Flow): URL {
  return authorizationUrl(origins, clientId, flow, {
    state: flow.state,
    code_challenge: createHash('sha256').update(flow.verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(flow.nonce !== null && { nonce: flow.nonce }),
  });
}

/** Checks the address to which the browser returned, as an application must (RFC 6749 10.12, RFC 9207 2.4). */
export function returnedAddress(flow: Flow, issuer: string, address: string): ReturnedAddress {
  const failed = (problem: AddressProblem) => ({ code: null, problem, finding: null });
  const [url, expected] = [address.length > MAX_ADDRESS ? null : urlOf(address), urlOf(flow.redirectUri)];
  if (url === null || expected === null) return failed('address');
  // A loopback address may have any port (RFC 8252 7.3).
  const isSame = (['protocol', 'hostname', 'pathname'] as const).every(
    (part) => url[part] === expected[part],
  );
  if (!isSame) return failed('redirect');
  const sent = url.searchParams;
  if (sent.get('state') !== flow.state) return failed('state');
  if (sent.get('iss') !== issuer) return failed('iss');
  const finding = findingOf((name) => sent.get(name));
  const code = sent.get('code');
  if (finding === null && code === null) return failed('code');
  return { code: finding === null ? code : null, problem: null, finding };
}

const urlOf = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

/** @param field reads a text of an error response (RFC 6749 4.1.2.1 and 5.2) */
function findingOf(field: (name: string) => string | null): Finding | null {
  const error = field('error');
  if (error === null) return null;
  const check = urlOf(field('error_uri') ?? '')?.hash.slice(1);
  return {
    error,
    description: field('error_description') ?? '',
    reference: field('error_reference'),
    entry: guideEntry(check, error),
    ...(check !== undefined && { check }),
  };
}

interface FlowRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: URLSearchParams | null;
}

/** @param secret null for a public client */
export function requestOf(
  step: Step,
  { BASE_URL, API_URL }: Origins,
  clientId: string,
  secret: string | null,
  flow: Flow,
): FlowRequest | null {
  const { tokens, returned, redirectUri, verifier, scope } = flow;
  const post = (path: string, fields: Readonly<Record<string, string>>): FlowRequest => ({
    method: 'POST',
    url: BASE_URL + path,
    headers: secret === null ? {} : { Authorization: basic(clientId, secret) },
    body: new URLSearchParams(secret === null ? { ...fields, client_id: clientId } : fields),
  });
  switch (step) {
    case 'exchange':
      return returned?.code
        ? post(ENDPOINTS.token, {
            grant_type: 'authorization_code',
            code: returned.code,
            redirect_uri: redirectUri,
            code_verifier: verifier,
          })
        : null;
    case 'call': {
      const path = isOpenId(scope) ? ENDPOINTS.userInfo : ENDPOINTS.me;
      return tokens
        ? {
            method: 'GET',
            url: API_URL + path,
            headers: { Authorization: `Bearer ${tokens.access}` },
            body: null,
          }
        : null;
    }
    case 'refresh':
      return tokens?.refresh
        ? post(ENDPOINTS.token, { grant_type: 'refresh_token', refresh_token: tokens.refresh })
        : null;
    default:
      return tokens ? post(ENDPOINTS.revoke, { token: tokens.refresh ?? tokens.access }) : null;
  }
}

/** RFC 6749 2.3.1: the id and the secret are encoded as in a form. */
function basic(clientId: string, secret: string): string {
  const [id, password] = [clientId, secret].map((part) =>
    new URLSearchParams({ part }).toString().slice('part='.length),
  );
  return `Basic ${Buffer.from(`${id}:${password}`).toString('base64')}`;
}

/** Returns the request without the secret, and with shortened tokens. */
function requestText({ method, url, headers, body }: FlowRequest): string {
  const shown = Object.entries(headers).map(([name, value]) =>
    value.startsWith('Basic ') ? `${name}: Basic …` : `${name}: ${value}`,
  );
  const fields = [...(body ?? [])].map(([name, value], index) => `${index > 0 ? '&' : ''}${name}=${value}`);
  const lines = [`${method} ${url}`, ...shown, ...(fields.length > 0 ? ['', ...fields] : [])];
  return redactCredentials(lines.join('\n'));
}

const MAX_RESPONSE = 10_000;

export function exchangeOf(request: FlowRequest, status: number, text: string): Exchange {
  const body = jsonOf(text);
  const { id_token: idToken } = body ?? {};
  const shown = typeof idToken === 'string' ? { ...body, id_token: `${idToken.slice(0, 20)}…` } : body;
  const response = shown === null ? text : JSON.stringify(shown, null, 2);
  return {
    request: requestText(request),
    status,
    response: redactCredentials(response.slice(0, MAX_RESPONSE)),
    finding: findingOf((name) => textIn(body, name)),
  };
}

/** Returns the tokens of a response; null if it has none. */
export function tokensOf(text: string): Tokens | null {
  const body = jsonOf(text);
  const access = textIn(body, 'access_token');
  return access === null ? null : { access, refresh: textIn(body, 'refresh_token') };
}

type Body = Readonly<Record<string, unknown>>;

function textIn(body: Body | null, name: string): string | null {
  const value = body?.[name];
  return typeof value === 'string' ? value : null;
}

function jsonOf(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : null;
  } catch {
    return null;
  }
}
