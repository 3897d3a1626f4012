import proxyAddr from '@fastify/proxy-addr';
import type { IncomingMessage } from 'node:http';
import 'reflect-metadata';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { ServiceConfiguration } from '#platform/configuration/service.configuration.js';
import { trustedProxies } from '#platform/http/client-address.js';

function clientOf(peer: string, forwarded: string, settings: Parameters<typeof trustedProxies>[0]): string {
  const trust = trustedProxies(settings);
  if (trust === false) return peer;
  const request = { headers: { 'x-forwarded-for': forwarded }, connection: { remoteAddress: peer } };
  return proxyAddr({ ...request, socket: request.connection } as unknown as IncomingMessage, trust);
}

const RANGE = { TRUSTED_PROXIES: '10.0.0.0/8, loopback' };

it.each([
  [
    'the address of the peer without trusted proxies',
    '10.1.1.1',
    '192.0.2.7',
    { TRUSTED_PROXIES: '' },
    '10.1.1.1',
  ],
  [
    'the address of the peer if the peer is not a trusted proxy',
    '203.0.113.9',
    '192.0.2.7',
    RANGE,
    '203.0.113.9',
  ],
  ['the address forwarded by a trusted proxy', '10.1.1.1', '192.0.2.7', RANGE, '192.0.2.7'],
  [
    'the last forwarded address, not the address that the client claims',
    '10.1.1.1',
    '192.0.2.1, 198.51.100.7',
    RANGE,
    '198.51.100.7',
  ],
  [
    'the last forwarded address, even inside the trusted range',
    '10.1.1.1',
    '192.0.2.1, 10.9.9.9',
    RANGE,
    '10.9.9.9',
  ],
  [
    'the second to last forwarded address with two proxies',
    '10.1.1.1',
    '192.0.2.7, 10.2.2.2',
    { ...RANGE, TRUSTED_PROXY_HOPS: 2 },
    '192.0.2.7',
  ],
])('the client address is %s', (_who, peer, forwarded, settings, client) => {
  expect(clientOf(peer, forwarded, settings)).toBe(client);
});

describe('TRUSTED_PROXIES', () => {
  class Configuration extends ServiceConfiguration {
    override PORT = 0;
    override INTERNAL_PORT = 0;
    override NATS_URL = 'nats://localhost';
    override publicUrl = 'http://localhost';
  }
  const load = (TRUSTED_PROXIES: string) => loadConfiguration(Configuration, { TRUSTED_PROXIES });

  it.each(['10.0.0.0/8, loopback', '192.0.2.7', '2001:db8::/32,', ''])('may be "%s"', (value) => {
    expect(load(value).TRUSTED_PROXIES).toBe(value);
  });

  it.each(['10.0.0.0/99', 'the proxy', '192.0.2.7; 192.0.2.8', '10.0.0.0-10.0.0.9'])(
    'is rejected at startup if it is "%s"',
    (value) => {
      expect(() => load(value)).toThrow('TRUSTED_PROXIES must be IP addresses or ranges such as 10.0.0.0/8');
    },
  );
});
