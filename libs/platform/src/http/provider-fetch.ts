import { DependencyUnavailableError } from '../errors.js';

export const PROVIDER_TIMEOUT_MS = 5_000;

/** Maximum size of a response in bytes; keys and metadata of large providers take about 20 KB. */
const MAX_BODY = 512 * 1024;

interface ProviderRequest {
  readonly method?: string;
  readonly headers?: Headers | Record<string, string>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `fetch` with limits of time and size. Does not use `OutsideHttp`, because a configured provider may have a
 * private address, and because `fetch` reuses the connection for the second request of a login.
 * @throws DependencyUnavailableError if the request fails or the response is too large, or for status 429 and 5xx
 */
export async function providerFetch(
  url: string,
  { method = 'GET', headers = {}, body: sent, signal: given }: ProviderRequest = {},
): Promise<Response> {
  const limit = AbortSignal.timeout(PROVIDER_TIMEOUT_MS);
  const signal = given ? AbortSignal.any([limit, given]) : limit;
  try {
    // Redirects are not followed, because they could send the client secret elsewhere.
    const response = await fetch(url, {
      method,
      headers,
      body: (sent ?? null) as NonNullable<RequestInit['body']> | null,
      redirect: 'manual',
      signal,
    });
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel();
      throw unavailable(`status ${response.status}`);
    }
    const body = await readBounded(response);
    const { status } = response;
    return new Response(status === 204 || status === 304 ? null : body, {
      status,
      headers: response.headers,
    });
  } catch (error) {
    throw unavailable(error);
  }
}

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += part.byteLength;
    if (length > MAX_BODY) throw unavailable(`a response of more than ${MAX_BODY} bytes`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/**
 * Keeps only the message of the cause, which explains "fetch failed". The cause itself may contain URLs with
 * parameters.
 */
export function unavailable(error: unknown): DependencyUnavailableError {
  if (error instanceof DependencyUnavailableError) return error;
  if (!(error instanceof Error)) return new DependencyUnavailableError('login_provider', error);
  const { cause } = error;
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : error.message;
  return new DependencyUnavailableError('login_provider', reason);
}
