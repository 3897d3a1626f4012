import { randomBytes, randomInt } from 'node:crypto';
import { KeyRing } from '#keys/key-ring.js';
import { DEVICE_LIMITS, type DeviceRequest, GUESS_LIMITS, UserCodeStore } from '#grants/user-code.store.js';
import { generateUserCode } from '#oauth/device-authorization.js';
import { useGrantEnvironment } from './use-grant-environment.js';

const environment = useGrantEnvironment();
const KEYS = [randomBytes(32), randomBytes(32)] as const;

let store: UserCodeStore;
let request: DeviceRequest;
let user: number;

const ipv4 = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
const times = (count: number) => Array.from({ length: count }, (_, at) => at);

beforeEach(async () => {
  const { redis } = environment.fixture;
  const old = await redis.keys('{device}:*');
  if (old.length > 0) await redis.del(...old);
  store = new UserCodeStore(redis, new KeyRing(KEYS));
  request = { grantId: 'g', clientId: 'sc_tv', scope: 'profile:read', resources: null, address: '192.0.2.7' };
  user = randomInt(2 ** 31);
});

const created = async (changes: Partial<DeviceRequest> = {}, type: 'public' | 'confidential' = 'public') => {
  const result = await store.create({ ...request, ...changes }, type);
  if (result.outcome !== 'created') throw new Error(result.counter);
  return result.userCode;
};
const outcomeOf = async (changes: Partial<DeviceRequest>, type: 'public' | 'confidential' = 'public') => {
  const result = await store.create({ ...request, ...changes }, type);
  return result.outcome === 'created' ? result.outcome : result.counter;
};
/** Looks up a code that is never live, because generated codes have no vowels. */
const wrong = (address = ipv4(), by = user) => store.find('AAAAAAAA', address, by);

describe('a user code', () => {
  it('finds its request until the decision, and then for the form of the decision, even after a rotation of the keys', async () => {
    const userCode = await created();
    const rotated = new UserCodeStore(environment.fixture.redis, new KeyRing([randomBytes(32), ...KEYS]));
    expect(await rotated.find(userCode, ipv4(), user)).toEqual({ outcome: 'found', request });
    await rotated.answer(userCode, request, 'form');
    for (const [form, outcome] of [
      ['form', 'found'],
      ['other form', 'answered'],
      [null, 'answered'],
    ] as const)
      expect(await store.find(userCode, ipv4(), user, form)).toEqual({ outcome, request });
  });

  it('does not find its request after a decision without a form', async () => {
    const userCode = await created();
    await store.answer(userCode, request, null);
    for (const form of [null, 'form'])
      expect((await store.find(userCode, ipv4(), user, form)).outcome).not.toBe('found');
  });

  it('is not stored again if it expires before the answer', async () => {
    await store.answer('BBBBBBBB', request, 'form');
    expect(await environment.fixture.redis.keys('{device}:code:*')).toEqual([]);
  });

  it('is generated again if it is already in use', async () => {
    const code = await created();
    const codes = [code, code, 'BBBBBBBB'];
    expect(await store.create(request, 'public', () => codes.shift() ?? '')).toEqual({
      outcome: 'created',
      userCode: 'BBBBBBBB',
    });
  });

  it('is stored without plain codes or addresses, and with a TTL on every key', async () => {
    const { redis } = environment.fixture;
    const userCode = await created();
    await wrong('192.0.2.9');
    const names = await redis.keys('*');
    expect(names.some((name) => name.startsWith('{device}:code:'))).toBe(true);
    for (const name of names.filter((key) => key.startsWith('{device}'))) {
      const value =
        (await redis.type(name)) === 'string'
          ? await redis.get(name)
          : (await redis.zrange(name, '0', '-1')).join();
      for (const secret of [userCode, '192.0.2.', 'sc_tv'].slice(0, name.includes('client') ? 2 : 3))
        expect(name + (value ?? '')).not.toContain(secret);
      expect(await redis.ttl(name)).toBeGreaterThan(0);
    }
  });
});

describe('wrong codes', () => {
  // @rfc 8628 5.1
  it.each([
    ['user', 32],
    ['address', 28],
  ] as const)('from one %s find a given code with a probability below 2^-%i', (attacker, bits) => {
    const letters = new Set(times(2000).flatMap(() => generateUserCode().split(''))).size;
    expect(letters).toBe(20);
    expect(GUESS_LIMITS[attacker] / letters ** generateUserCode().length).toBeLessThan(2 ** -bits);
  });

  // @rfc 8628 5.1
  it('are limited to 5 per account, at any address', async () => {
    const answers = await Promise.all(times(9).map(() => wrong()));
    expect(answers.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(GUESS_LIMITS.user);
    expect(await wrong()).toMatchObject({ outcome: 'refused', counter: 'user' });
    expect((await wrong(ipv4(), user + 1)).outcome).toBe('unknown');
  });

  // @rfc 8628 5.1
  it('are limited to 50 per address and IPv6 /48, for any account', async () => {
    for (const address of ['192.0.2.1', '2001:db8:7::']) {
      const from = (at: number) => (address.includes(':') ? `${address.slice(0, -1)}${at}::1` : address);
      const answers = await Promise.all(times(54).map((at) => wrong(from(at), user + at)));
      expect(answers.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(GUESS_LIMITS.address);
      expect(await wrong(from(99), user + 99)).toMatchObject({ outcome: 'refused', counter: 'address' });
    }
  });

  it('of one user do not refuse the codes of other users at the same address', async () => {
    const [userCode, address] = [await created(), ipv4()];
    await Promise.all(times(6).map(() => wrong(address)));
    expect(await wrong(address)).toMatchObject({ outcome: 'refused', counter: 'user' });
    expect((await store.find(userCode, address, user + 1)).outcome).toBe('found');
  });

  // @rfc 8628 5.1
  it('have a limit for all users, and a full counter does not reveal a valid code', async () => {
    const userCode = await created();
    for (let start = 0; start < GUESS_LIMITS.all; start += 50)
      await Promise.all(times(50).map((at) => wrong(ipv4(), user + 1 + start + at)));
    const answer = await store.find(userCode, ipv4(), user);
    expect(answer).toMatchObject({ outcome: 'refused', counter: 'all' });
    expect((answer as { retryAfter: number }).retryAfter).toBeGreaterThan(0);
  });

  it('are counted, but valid codes are not', async () => {
    const userCode = await created();
    for (const _ of times(12)) expect((await store.find(userCode, '192.0.2.1', user)).outcome).toBe('found');
  });
});

describe('live codes', () => {
  async function fill(counter: string, max: number): Promise<void> {
    const members = times(max).flatMap((at) => [String(Date.now() + 900_000), `device ${at}`]);
    await environment.fixture.redis.zadd(`{device}:${counter}`, ...members);
  }

  it('of a public client are limited per address and IPv6 /48, even if concurrent', async () => {
    const answers = await Promise.all(
      times(DEVICE_LIMITS.address + 5).map(() => outcomeOf({ address: '192.0.2.1' })),
    );
    expect(answers.filter((outcome) => outcome === 'created')).toHaveLength(DEVICE_LIMITS.address);
    expect(await outcomeOf({ address: '192.0.2.2' })).toBe('created');
    for (const at of times(DEVICE_LIMITS.site))
      await outcomeOf({ address: `2001:db8:7:${at.toString(16)}::1` });
    expect(await outcomeOf({ address: '2001:db8:7:ffff::1' })).toBe('site');
    expect(await outcomeOf({ address: '192.0.2.1' }, 'confidential')).toBe('created');
  });

  it('have a limit per client and a limit for all clients', async () => {
    await fill('client:sc_tv', DEVICE_LIMITS.public);
    expect(await outcomeOf({ address: ipv4() })).toBe('client');
    expect(await outcomeOf({ address: ipv4() }, 'confidential')).toBe('created');
    expect(await outcomeOf({ clientId: 'sc_other' })).toBe('created');
    await fill('all', DEVICE_LIMITS.all);
    expect(await outcomeOf({ clientId: 'sc_other' }, 'confidential')).toBe('all');
  });
});
