import { compile } from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';
import { listOf } from '../configuration/variables.js';

export interface ProxySettings {
  /** Addresses or ranges, comma-separated; empty trusts nobody. */
  readonly TRUSTED_PROXIES: string;
  /** How many of them stand in a row before the app. */
  readonly TRUSTED_PROXY_HOPS?: number;
}

/**
 * Fastify's `trustProxy` function: whether the X-Forwarded-* headers of an address are believed. Hop 0 is the peer of the
 * connection. Every proxy appends the address it sees, so behind a client whose own address is in the range (SNAT, or inside
 * the cluster) the header goes on with what that client made up. Hence the number of proxies counts too.
 */
export function trustedProxies({
  TRUSTED_PROXIES,
  TRUSTED_PROXY_HOPS = 1,
}: ProxySettings): false | ((address: string, hop: number) => boolean) {
  if (TRUSTED_PROXIES === '') return false;
  const covers = compile(listOf(TRUSTED_PROXIES));
  return (address, hop) => hop < TRUSTED_PROXY_HOPS && covers(address, hop);
}

/** The usual form of an address, at most 39 characters; undefined for any other text, which a client can send through a proxy. */
export function canonicalAddress(address: string | undefined): string | undefined {
  if (address === undefined || !ipaddr.isValid(address)) return undefined;
  const [withoutZone] = ipaddr.process(address).toString().split('%');
  return withoutZone;
}

/**
 * The network that rate limits count as one caller: an IPv4 address or an IPv6 /64, the smallest network a customer gets
 * (RFC 6177 2) and can choose any address from. Invalid addresses all share one counter: otherwise a caller could invent a
 * new counter for each request.
 */
export function addressNetwork(address: string | undefined): string {
  return networkOf(address, 64);
}

/** The site of that network: an IPv6 /48, which customers get on request (RFC 6177 2). */
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
