import { type LookupAddress, type LookupAllOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';

export type Resolve = (
  host: string,
  options: LookupAllOptions,
  answer: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  limit: AbortSignal,
) => void;

/**
 * Timeout of the first attempt; the second takes twice as long. Both end before the default timeout of a request.
 */
const TIMEOUT_MS = 1_500;

/**
 * Queries the name servers directly, without /etc/hosts and search domains. Does not use `lookup`, which occupies a
 * thread of libuv's pool. Only half of the pool may wait for name servers, so two external hosts with unresponsive name
 * servers would block every lookup of the process, even of PostgreSQL, Redis and NATS.
 */
export function resolveByDns(servers?: readonly string[]): Resolve {
  return (host, _options, answer, limit) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 });
    if (servers) resolver.setServers(servers);
    limit.addEventListener('abort', () => resolver.cancel(), { once: true });
    void Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]).then(([ipv4, ipv6]) => {
      const addresses = [
        ...(ipv4.status === 'fulfilled' ? ipv4.value.map((address) => ({ address, family: 4 })) : []),
        ...(ipv6.status === 'fulfilled' ? ipv6.value.map((address) => ({ address, family: 6 })) : []),
      ];
      if (addresses.length > 0 || ipv4.status === 'fulfilled') return answer(null, addresses);
      return answer(ipv4.reason as NodeJS.ErrnoException, []);
    });
  };
}
