import proxyAddr from '@fastify/proxy-addr';
import type { IncomingMessage } from 'node:http';
import { trustedProxies } from '../src/http/trusted-proxies.js';

/** The client's address as Fastify finds it. */
function clientOf(peer: string, forwarded: string, settings: Parameters<typeof trustedProxies>[0]): string {
  const trust = trustedProxies(settings);
  if (trust === false) return peer;
  const request = { headers: { 'x-forwarded-for': forwarded }, connection: { remoteAddress: peer } };
  return proxyAddr({ ...request, socket: request.connection } as unknown as IncomingMessage, trust);
}

const RANGE = { TRUSTED_PROXIES: '10.0.0.0/8, loopback' };

it.each([
  ['nobody', '10.1.1.1', '192.0.2.7', { TRUSTED_PROXIES: '' }, '10.1.1.1'],
  ['who is no proxy', '203.0.113.9', '192.0.2.7', RANGE, '203.0.113.9'],
  ['the proxy about its client', '10.1.1.1', '192.0.2.7', RANGE, '192.0.2.7'],
  ['the proxy, not its client about others', '10.1.1.1', '192.0.2.1, 198.51.100.7', RANGE, '198.51.100.7'],
  ['the proxy, not a client inside of the range', '10.1.1.1', '192.0.2.1, 10.9.9.9', RANGE, '10.9.9.9'],
  [
    'two proxies in a row',
    '10.1.1.1',
    '192.0.2.7, 10.2.2.2',
    { ...RANGE, TRUSTED_PROXY_HOPS: 2 },
    '192.0.2.7',
  ],
])('believes %s', (_who, peer, forwarded, settings, client) => {
  expect(clientOf(peer, forwarded, settings)).toBe(client);
});
