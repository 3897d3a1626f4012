import ipaddr from 'ipaddr.js';

/**
 * The network whose tries are counted together: an IPv4 address, or an IPv6 network of 64 bits, which is what one
 * customer has at least (RFC 6177 2) and may pick any address of. What is no address, from a proxy that does not know
 * its client, is all one: a counter that everybody could have for themselves would count nothing.
 */
export function addressNetwork(address: string | undefined): string {
  return networkOf(address, 64);
}

/** The site that such a network belongs to: of IPv6 48 bits, which whoever asks for them gets (RFC 6177 2). */
export function addressSite(address: string | undefined): string {
  return networkOf(address, 48);
}

function networkOf(address: string | undefined, bits: 48 | 64): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  // An IPv4 address that arrived at an IPv6 socket is an IPv4 address (RFC 4291 2.5.5.2).
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return parsed.parts
    .slice(0, bits / 16)
    .map((part) => part.toString(16))
    .join(':');
}
