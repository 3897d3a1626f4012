import { createHash, randomBytes, randomInt } from 'node:crypto';
import request, { type Response } from 'supertest';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { PUSH_LIMITS } from '../../src/par/par.service.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp({ TRUSTED_PROXIES: 'loopback' });

const CALLBACK = 'com.example.pocket:/callback';
const PKCE = {
  code_challenge: createHash('sha256').update('verifier').digest('base64url'),
  code_challenge_method: 'S256',
};

const publicClient = () => app.publicClient(CALLBACK);

function push(by: TestClient | { readonly client_id: string }, from: string): Promise<Response> {
  const redirect_uri = 'client_secret' in by ? REDIRECT_URI : CALLBACK;
  return request(app.server)
    .post('/api/auth/oauth/par')
    .set('X-Forwarded-For', from)
    .send({ ...by, redirect_uri, state: 's', ...PKCE })
    .then((answer) => answer);
}

async function pushAll(pushes: readonly (() => Promise<Response>)[]): Promise<Response[]> {
  const answers: Response[] = [];
  for (let start = 0; start < pushes.length; start += 50)
    answers.push(...(await Promise.all(pushes.slice(start, start + 50).map((send) => send()))));
  return answers;
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const byte = () => randomInt(1, 255);
const ipv4 = () => `10.${byte()}.${byte()}.${byte()}`;
const hex = () => randomBytes(2).toString('hex');
const stored = async () => (await app.redis.keys('{par}:request:*')).length;

function expectTooMany(answer: Response, source: string): void {
  expectStandardError(answer, 429, 'temporarily_unavailable');
  expect(answer.body.error_description).toContain(source);
  const wait = Number(answer.headers['retry-after']);
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(600);
  expect(answer.headers['cache-control']).toBe('no-store');
}

async function fill(key: string, waiting: number, over = 0): Promise<void> {
  const members = times(waiting + over, (n) => [
    Date.now() + (n < waiting ? 300_000 : -1_000),
    `waiting ${n}`,
  ]);
  const pipeline = app.redis.pipeline();
  for (let start = 0; start < members.length; start += 1_000)
    pipeline.zadd(key, ...members.slice(start, start + 1_000).flat());
  await pipeline.exec();
}

const fillClient = (clientId: string, waiting: number, over: number) =>
  fill(`{par}:client:${clientId}`, waiting, over);

/** Pushes once from a new address, and then fills the counters of this address to the given numbers of requests. */
async function fillAddress(
  first: () => Promise<Response>,
  waiting: Partial<Record<'address' | 'site', number>>,
): Promise<void> {
  const keys = () => app.redis.keys('{par}:*');
  const before = new Set(await keys());
  expect((await first()).status).toBe(201);
  const created = (await keys()).filter((key) => !before.has(key));
  for (const [counter, count] of Object.entries(waiting))
    await fill(created.find((key) => key.startsWith(`{par}:${counter}:`)) ?? '', count - 1);
}

describe('pushes of public clients from one address', () => {
  // @rfc 9126 2.3
  it('are limited to 300 in ten minutes across all public clients, even if concurrent', async () => {
    const [clients, from] = [[await publicClient(), await publicClient()], ipv4()];
    const pushBy = (n: number) => push(clients[n % 2] ?? { client_id: '' }, from);
    await fillAddress(() => pushBy(0), { address: PUSH_LIMITS.address - 20 });
    const before = await stored();
    const answers = await pushAll(times(60, (n) => () => pushBy(n)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(40);
    for (const answer of refused) expectTooMany(answer, 'from this address');
    expect((await stored()) - before).toBe(20);
    expect((await push(await publicClient(), ipv4())).status).toBe(201);
    expect(PUSH_LIMITS.address).toBe(300);
  });

  it('are limited to 300 per IPv6 /64, and to 1000 per /48', async () => {
    const client = await publicClient();
    const site = `2001:${hex()}:${hex()}`;
    const network = `${site}:${hex()}`;
    await fillAddress(() => push(client, `${network}::${hex()}`), { address: 299, site: 980 });
    expect((await push(client, `${network}::${hex()}`)).status).toBe(201);
    expectTooMany(await push(client, `${network}::${hex()}`), 'from this address');
    const others = times(40, (n) => () => push(client, `${site}:${n.toString(16)}:${hex()}::1`));
    const answers = await pushAll(others);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(19);
    expect((await push(client, `2001:${hex()}:${hex()}::1`)).status).toBe(201);
  });

  it('are counted by the address that trusted proxies report, not by the address that the caller claims', async () => {
    const [client, from] = [await publicClient(), ipv4()];
    const pushFrom = () => push(client, `${ipv4()}, ${from}`);
    await fillAddress(pushFrom, { address: PUSH_LIMITS.address - 5 });
    const answers = await pushAll(times(5, () => pushFrom));
    expect(answers.map(({ status }) => status)).toEqual(times(5, () => 201));
    expectTooMany(await pushFrom(), 'from this address');
  });

  it('leave no address in Redis', async () => {
    const from = ipv4();
    await push(await publicClient(), from);
    expect((await app.redis.keys('*')).join()).not.toContain(from);
  });
});

describe('pushes of one client', () => {
  // @rfc 9126 2.3
  it.each(['public', 'confidential'] as const)(
    'are limited for a %s client, even if concurrent',
    async (type) => {
      const client = type === 'public' ? await publicClient() : await app.client();
      await fillClient(client.client_id, PUSH_LIMITS[type] - 5, 100);
      const answers = await pushAll(times(20, () => () => push(client, ipv4())));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
      for (const answer of answers.filter(({ status }) => status !== 201))
        expectTooMany(answer, 'for this application');
      const another = type === 'public' ? await publicClient() : await app.client();
      expect((await push(another, ipv4())).status).toBe(201);
    },
  );

  it('are not limited per address for a confidential client', async () => {
    const [client, other, from] = [await app.client(), await publicClient(), ipv4()];
    await fillAddress(() => push(other, from), { address: PUSH_LIMITS.address });
    expectTooMany(await push(other, from), 'from this address');
    const answers = await pushAll(times(10, () => () => push(client, from)));
    expect(answers.map(({ status }) => status)).toEqual(times(10, () => 201));
  });
});

it('every key of a pushed request has a TTL', async () => {
  await push(await publicClient(), `2001:${hex()}:${hex()}::1`);
  const keys = await app.redis.keys('{par}:*');
  const kinds = new Set(keys.map((key) => key.split(':')[1]));
  expect(kinds).toEqual(new Set(['request', 'client', 'address', 'site']));
  for (const key of keys) expect([key, (await app.redis.ttl(key)) > 0]).toEqual([key, true]);
});
