import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { listOf, ParsedBy } from '../configuration/variables.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

const MAX_HOST = 253;
const LABEL = /^[a-z0-9_][a-z0-9_-]*$/;

/** Private hosts and address ranges that OUTSIDE_FETCH_ALLOW permits. */
export class OutsideHosts {
  private readonly hosts = new Set<string>();
  private readonly ranges: Range[] = [];

  /** @param allowed names, IP addresses and CIDR ranges, comma-separated @throws Error that names the invalid item */
  constructor(allowed: string) {
    for (const item of listOf(allowed)) {
      if (ipaddr.isValidCIDR(item)) this.ranges.push(ipaddr.parseCIDR(item));
      else if (ipaddr.isValid(item)) this.ranges.push(wholeAddress(ipaddr.process(item)));
      else if (isHost(item)) this.hosts.add(item);
      else throw new Error(`${item} is neither a host name in lower case, nor an IP address, nor a range`);
    }
  }

  /** Compares whole names, so that a subdomain is another host. */
  hasHost(host: string): boolean {
    return this.hosts.has(host);
  }

  hasAddress(text: string): boolean {
    const address = ipaddr.process(text);
    return this.ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  }
}

export function IsOutsideHosts(): PropertyDecorator {
  return ParsedBy(
    (text) => new OutsideHosts(text),
    'host names, IP addresses or ranges such as 10.1.0.0/16, comma-separated',
  );
}

/** IPv6 addresses that IANA allocates for public use, apart from exceptions in the special-purpose registry. */
const GLOBAL_UNICAST: Range = ipaddr.parseCIDR('2000::/3');
/** IPv6 addresses whose last four bytes are an IPv4 address (RFC 6052 2.1). */
const NAT64: Range = ipaddr.parseCIDR('64:ff9b::/96');
/** Public address that serves credentials and keys to virtual machines of Azure. */
const AZURE_WIRE_SERVER = '168.63.129.16';

/** Returns false for loopback, private, link-local (such as cloud metadata), multicast and reserved addresses. */
export function isPublicAddress(text: string): boolean {
  // An IPv4-mapped IPv6 address counts as the IPv4 address.
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv6) {
    if (address.match(NAT64)) return isPublicAddress(address.toByteArray().slice(12).join('.'));
    return address.range() === 'unicast' && address.match(GLOBAL_UNICAST);
  }
  return address.range() === 'unicast' && address.toString() !== AZURE_WIRE_SERVER;
}

function wholeAddress(address: ipaddr.IPv4 | ipaddr.IPv6): Range {
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isHost(name: string): boolean {
  const labels = name.split('.');
  const isNumeric = /^[\d.]+$/.test(name);
  return (
    name.length <= MAX_HOST &&
    !isNumeric &&
    labels.every((label) => LABEL.test(label) && !/[-_]$/.test(label))
  );
}

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
