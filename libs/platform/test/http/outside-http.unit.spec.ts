import { freshFor } from '#platform/http/outside-http.js';
import { isPublicAddress, OutsideHosts } from '#platform/http/outside-hosts.js';

describe('an address', () => {
  it.each([
    ['loopback', ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']],
    ['private', ['10.0.0.1', '172.16.0.1', '192.168.1.1', 'fd12:3456::1', 'fec0::1']],
    ['link-local, such as cloud metadata services', ['169.254.169.254', 'fe80::1', 'fd00:ec2::254']],
    ['another metadata service', ['168.63.129.16', '100.100.100.200', '192.0.0.192', '::ffff:168.63.129.16']],
    ['shared by a carrier', ['100.64.0.1']],
    [
      'unspecified, multicast, broadcast or reserved',
      ['0.0.0.0', '::', '224.0.0.1', 'ff02::1', '255.255.255.255', '240.0.0.1', '198.18.0.1', '2001:db8::1'],
    ],
    [
      'a private IPv4 address in IPv6',
      ['64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '2002:7f00:1::', '::7f00:1', '2001:0:1::1'],
    ],
  ])('is not public if it is %s', (_kind, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  it('is public otherwise', () => {
    const addresses = [
      '8.8.8.8',
      '172.15.0.1',
      '172.32.0.1',
      '2606:4700::1111',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
    ];
    expect(addresses.filter(isPublicAddress)).toEqual(addresses);
  });
});

describe('OUTSIDE_FETCH_ALLOW', () => {
  const allowed = new OutsideHosts('keys.internal.example.com, 10.1.0.0/16, 192.168.7.7,fd00::/8');

  it('allows only its names', () => {
    expect(allowed.hasHost('keys.internal.example.com')).toBe(true);
    for (const other of ['internal.example.com', 'a.keys.internal.example.com', 'keys.internal.example.com.'])
      expect(allowed.hasHost(other)).toBe(false);
  });

  it('allows only its addresses and ranges', () => {
    for (const address of ['10.1.255.1', '192.168.7.7', 'fd00::1', '::ffff:10.1.0.1'])
      expect(allowed.hasAddress(address)).toBe(true);
    for (const other of ['10.2.0.1', '192.168.7.8', 'fe80::1', '127.0.0.1'])
      expect(allowed.hasAddress(other)).toBe(false);
  });

  it.each([
    'https://keys.example.com',
    'KEYS.example.com',
    '10.0.0.0/33',
    '*.example.com',
    '999.1.1.1',
    'a b',
  ])('rejects %j', (item) => {
    expect(() => new OutsideHosts(item)).toThrow(item);
  });

  it('does not allow any host or address by default', () => {
    const none = new OutsideHosts('');
    expect([none.hasHost(''), none.hasHost('localhost'), none.hasAddress('127.0.0.1')]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

const BOUNDS = { min: 1_000, max: 100_000, byDefault: 10_000 };
const DATE = 'Wed, 25 Nov 2026 12:00:00 GMT';
const later = (seconds: number) => new Date(Date.parse(DATE) + seconds * 1000).toUTCString();
const lifetime = (headers: Record<string, string>) =>
  freshFor({ status: 200, headers, body: Buffer.alloc(0) }, BOUNDS);

// @client metadata document 5.2
describe('the freshness lifetime of a response', () => {
  it.each<[string, number, Record<string, string>]>([
    ['is the default without headers', 10_000, {}],
    ['is max-age minus Age', 20_000, { 'cache-control': 'public, max-age=30', age: '10' }],
    ['is the time until Expires', 40_000, { date: DATE, expires: later(40) }],
    [
      'is max-age rather than Expires',
      30_000,
      { 'cache-control': 'max-age=30', date: DATE, expires: later(40) },
    ],
    ['is the minimum if Expires is not a date', 1_000, { date: DATE, expires: '0' }],
    ['is the minimum if Expires has passed', 1_000, { date: DATE, expires: later(-40) }],
    ['is the minimum without a Date to compare', 1_000, { expires: later(40) }],
    ['is the minimum with no-store', 1_000, { 'cache-control': 'no-store, max-age=30' }],
    ['is at most the maximum', 100_000, { date: DATE, expires: later(1_000) }],
  ])('%s', (_what, milliseconds, headers) => {
    expect(lifetime(headers)).toBe(milliseconds);
  });
});
