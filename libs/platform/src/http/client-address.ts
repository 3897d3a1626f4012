import { compile } from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';
import { listOf } from '../configuration/variables.js';

export interface ProxySettings {
  /** Comma-separated addresses or ranges; empty for no trusted proxy. */
  readonly TRUSTED_PROXIES: string;
  /** Number of proxies between a client and the app. */
  readonly TRUSTED_PROXY_HOPS?: number;
}

/**
 * Returns Fastify's `trustProxy`, which returns true if the X-Forwarded-* headers of an address are trusted. Hop 0 is
 * the peer of the connection. The number of hops is limited, because a client whose address is in a trusted range
 * (SNAT, or inside the cluster) can make up the preceding addresses.
 */
export function trustedProxies({
  TRUSTED_PROXIES,
  TRUSTED_PROXY_HOPS = 1,
}: ProxySettings): false | ((address: string, hop: number) => boolean) {
  if (TRUSTED_PROXIES === '') return false;
  const covers = compile(listOf(TRUSTED_PROXIES));
  return (address, hop) => hop < TRUSTED_PROXY_HOPS && covers(address, hop);
}

/** Returns the canonical form of an address (at most 39 characters); undefined for any other text. */
export function canonicalAddress(address: string | undefined): string | undefined {
  if (address === undefined || !ipaddr.isValid(address)) return undefined;
  const [withoutZone] = ipaddr.process(address).toString().split('%');
  return withoutZone;
}

/**
 * Returns the network that rate limits count as one caller: an IPv4 address, or an IPv6 /64, the smallest network of a
 * customer (RFC 6177 2). Invalid addresses share one counter, so that callers cannot invent counters.
 */
export function addressNetwork(address: string | undefined): string {
  return networkOf(address, 64);
}

/** Returns an IPv6 /48, which customers get on request (RFC 6177 2), instead of the /64 of `addressNetwork`. */
export function addressSite(address: string | undefined): string {
  return networkOf(address, 48);
}

function networkOf(address: string | undefined, bits: 48 | 64): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  // Unwraps IPv4-mapped IPv6 addresses (RFC 4291 2.5.5.2).
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return parsed.parts
    .slice(0, bits / 16)
    .map((part) => part.toString(16))
    .join(':');
}
