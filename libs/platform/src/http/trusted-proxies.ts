import { compile } from '@fastify/proxy-addr';
import type { ServiceConfiguration } from '../configuration/service.configuration.js';
import { listOf } from '../configuration/variables.js';

/**
 * Whose X-Forwarded-* headers are believed, as Fastify asks it: for each address on the way from us to the client, 0 being
 * who sent the request. Every proxy appends the address it sees to what it was sent, so that of a client whose own
 * address is in the range (behind SNAT, or inside of the cluster) the header goes on with what the client made up. Hence
 * the number of proxies counts as well.
 */
export function trustedProxies({
  TRUSTED_PROXIES,
  TRUSTED_PROXY_HOPS = 1,
}: Pick<ServiceConfiguration, 'TRUSTED_PROXIES'> &
  Partial<Pick<ServiceConfiguration, 'TRUSTED_PROXY_HOPS'>>):
  false | ((address: string, hop: number) => boolean) {
  if (TRUSTED_PROXIES === '') return false;
  const covers = compile(listOf(TRUSTED_PROXIES));
  return (address, hop) => hop < TRUSTED_PROXY_HOPS && covers(address, hop);
}
