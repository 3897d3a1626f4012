import type { FastifyRequest } from 'fastify';

/** Anybody can send 16 KiB of host; names have 253 characters at most, and those in use far less. */
const LONGEST_OPENED = 200;

/** How a request came here, compared with how it should have. */
export interface Arrival {
  /** The origin that the browser seems to have opened, as far as a page and a log have room for it. */
  readonly opened: string;
  /** Whether that is another host or port. */
  readonly otherHost: boolean;
  /** Whether it is http instead of https, or the other way round. */
  readonly otherScheme: boolean;
  /** Whether a proxy says how the browser came, and TRUSTED_PROXIES does not let us believe it. */
  readonly uncoveredProxy: boolean;
}

/**
 * Tells how the browser came. Fastify's `protocol` and `host` honour X-Forwarded-… of trusted proxies only; others'
 * are believed here so far as to keep silent, since a wrong diagnosis would be worse than none.
 *
 * @param right AUTH_URL, an origin
 */
export function arrivalOf(
  { protocol, host, headers }: Pick<FastifyRequest, 'protocol' | 'host' | 'headers'>,
  right: string,
): Arrival {
  const wanted = new URL(right);
  const forwardedProtocol = first(headers['x-forwarded-proto']);
  const forwardedHost = first(headers['x-forwarded-host']);
  const uncoveredProxy =
    (forwardedProtocol !== undefined && forwardedProtocol !== protocol) ||
    (forwardedHost !== undefined && forwardedHost !== host);
  const otherHost = host !== '' && ![host, forwardedHost].some((name) => isHostOf(name, wanted));
  const schemes = [protocol, forwardedProtocol, ...(saysSecure(headers, wanted) ? ['https'] : [])];
  const otherScheme = !schemes.includes(wanted.protocol.slice(0, -1));
  const opened = `${protocol}://${host}`.slice(0, LONGEST_OPENED);
  return { opened, otherHost, otherScheme, uncoveredProxy };
}

/** Written as it may be: upper case, or with the port that goes without saying. */
function isHostOf(name: string | undefined, { protocol, host }: URL): boolean {
  return (
    name !== undefined &&
    URL.canParse(`${protocol}//${name}`) &&
    new URL(`${protocol}//${name}`).host === host
  );
}

/** Browsers send Sec-Fetch-Site to https and to this machine only (Fetch Metadata, "potentially trustworthy"). */
function saysSecure({ 'sec-fetch-site': site }: FastifyRequest['headers'], { hostname }: URL): boolean {
  return site !== undefined && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** What the proxy next to the browser said. */
function first(header: string | string[] | undefined): string | undefined {
  return (
    String(header ?? '')
      .split(',', 1)[0]
      ?.trim() || undefined
  );
}
