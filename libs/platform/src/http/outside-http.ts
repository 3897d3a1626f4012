import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { isPublicAddress, type OutsideHosts, type Resolve, resolveByDns } from './outside-hosts.js';

export interface OutsideRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Total milliseconds for DNS, connection and response. */
  readonly timeoutMs?: number;
  /** Maximum bytes of the response body. 0 ignores the body. */
  readonly maxBytes?: number | ((status: number) => number);
}

export interface OutsideResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type OutsideFailure =
  'url_refused' | 'address_refused' | 'redirected' | 'encoded' | 'too_large' | 'timed_out' | 'unreachable';

/** The message is for the operator and contains nothing of the response except its status. */
export class OutsideFetchError extends Error {
  constructor(
    readonly reason: OutsideFailure,
    message: string,
  ) {
    super(message);
    this.name = 'OutsideFetchError';
  }
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;
/** Maximum number of interim responses (1xx), which Node does not limit. */
const MAX_INTERIM = 10;

/**
 * HTTP client for URLs from outside, such as a client's `jwks_uri`. Prevents server-side request forgery: does not
 * follow redirects, rejects private addresses, and limits time and size. Connects to the checked addresses without
 * resolving the name again.
 */
export class OutsideHttp {
  constructor(
    private readonly allowed: OutsideHosts,
    private readonly resolve: Resolve = resolveByDns(),
  ) {}

  /** @throws OutsideFetchError if the request fails or is redirected; every other status is returned */
  async fetchOutside(
    address: string,
    { method = 'GET', headers = {}, body, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES }: OutsideRequest = {},
  ): Promise<OutsideResponse> {
    const url = this.checkedUrl(address);
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.send(url, { method, headers, limit, ...(body !== undefined && { body }) });
      try {
        return await readResponse(response, maxBytes);
      } finally {
        response.destroy();
      }
    } catch (error) {
      if (error instanceof OutsideFetchError) throw error;
      if (limit.aborted)
        throw new OutsideFetchError('timed_out', `${url.host} did not answer in ${timeoutMs} ms`);
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      throw new OutsideFetchError('unreachable', `${url.host} cannot be reached: ${code}`);
    }
  }

  private checkedUrl(address: string): URL {
    if (!URL.canParse(address)) throw new OutsideFetchError('url_refused', 'it is not a URL');
    const url = new URL(address);
    if (url.username !== '' || url.password !== '')
      throw new OutsideFetchError('url_refused', 'the URL contains a user name or a password');
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const isAllowed = this.allowed.hasHost(host) || (isIP(host) > 0 && this.allowed.hasAddress(host));
    // Permits plain HTTP only on this machine.
    const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
    if (url.protocol === 'http:' && isLocal && !isAllowed) throw refusedAddress(url.host);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
      throw new OutsideFetchError('url_refused', 'the URL is not https');
    // `lookupChecked` does not run for IP addresses.
    if (isIP(host) > 0 && !isAllowed && !isPublicAddress(host)) throw refusedAddress(url.host);
    return url;
  }

  private send(
    url: URL,
    {
      limit,
      body,
      ...options
    }: { method: string; headers: Readonly<Record<string, string>>; limit: AbortSignal; body?: string },
  ): Promise<IncomingMessage> {
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((done, fail) => {
      const request = open(url, {
        ...options,
        headers: { 'Accept-Encoding': 'identity', 'User-Agent': 'scheduling-oauth', ...options.headers },
        // Opens a new connection for each request, because an open connection may have passed another check.
        agent: false,
        lookup: (host, options, answer) => this.lookupChecked(host, { ...options, limit }, answer),
        signal: limit,
      });
      request.once('error', fail).once('response', done);
      // Node emits neither a response nor an error for 101, and the signal has no effect on a closed request.
      request.once('upgrade', (_response, socket) => {
        socket.destroy();
        fail(
          new OutsideFetchError('unreachable', `${url.host} changed the protocol, which was not requested`),
        );
      });
      let interim = 0;
      request.on('information', () => {
        if (++interim > MAX_INTERIM)
          request.destroy(
            new OutsideFetchError('too_large', `${url.host} sends interim responses without end`),
          );
      });
      request.end(body);
    });
  }

  /** Resolves a name. Refuses private addresses that are not allowed. The connection uses the checked addresses. */
  private lookupChecked(
    host: string,
    { limit, ...options }: LookupOptions & { readonly limit: AbortSignal },
    answer: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ): void {
    // The operator's names may be in /etc/hosts or need a search domain.
    const isOwn = this.allowed.hasHost(host) || !host.includes('.');
    const resolve: Resolve = isOwn ? lookup : this.resolve;
    const checked: Parameters<Resolve>[2] = (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (error || !first) return answer(error ?? new Error('no address'), '');
      const isAllowed = ({ address }: LookupAddress) =>
        this.allowed.hasHost(host) || this.allowed.hasAddress(address) || isPublicAddress(address);
      if (!addresses.every(isAllowed)) return answer(refusedAddress(host), '');
      if (options.all) return answer(null, addresses);
      return answer(null, first.address, first.family);
    };
    resolve(host, { ...options, all: true }, checked, limit);
  }
}

function refusedAddress(host: string): OutsideFetchError {
  return new OutsideFetchError(
    'address_refused',
    `${host} has an address that is not public; OUTSIDE_FETCH_ALLOW can allow it`,
  );
}

async function readResponse(
  response: IncomingMessage,
  limit: number | ((status: number) => number),
): Promise<OutsideResponse> {
  const { statusCode: status = 0, headers } = response;
  const maxBytes = typeof limit === 'number' ? limit : limit(status);
  if (status >= 300 && status < 400)
    throw new OutsideFetchError('redirected', `it answered with the redirect ${status}`);
  if (maxBytes === 0) return { status, headers, body: Buffer.alloc(0) };
  // A small compressed body could expand to any size.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new OutsideFetchError('encoded', 'its response is compressed, which the request did not accept');
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.byteLength;
    if (length > maxBytes)
      throw new OutsideFetchError('too_large', `its response is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return { status, headers, body: Buffer.concat(parts) };
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Lifetime of a response without `max-age` and Expires. */
  readonly byDefault: number;
}

/** Returns the freshness lifetime of a response within bounds, all in milliseconds (RFC 9111 4.2.1). */
export function freshFor({ headers }: OutsideResponse, { min, max, byDefault }: Bounds): number {
  const directives = (headers['cache-control'] ?? '').toLowerCase();
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/.test(directives)) return min;
  const [, seconds] = /(?:^|[\s,])max-age=(\d{1,10})/.exec(directives) ?? [];
  if (seconds === undefined && headers.expires === undefined) return byDefault;
  const age = Number(/^\d{1,10}$/.exec(headers.age ?? '')?.[0] ?? 0);
  const lifetime =
    seconds === undefined
      ? // RFC 9111 5.3: an invalid date, such as "0", means that the response has expired.
        Date.parse(headers.expires ?? '') - Date.parse(headers.date ?? '') || 0
      : Number(seconds) * 1000;
  return Math.min(Math.max(lifetime - age * 1000, min), max);
}
