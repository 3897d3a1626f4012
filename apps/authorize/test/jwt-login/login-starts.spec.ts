import type { Response } from 'supertest';
import { LOGIN_STARTS } from '../../src/external-login/login-transaction.store.js';
import { formsOf } from '#local/demo/html-form.js';
import { useJwtLogin } from './use-jwt-login.js';

const { app, client, address, logIn } = useJwtLogin({ TRUSTED_PROXIES: 'loopback' });

const loginOf = (request: string): string => request.replace('/oauth2/authorize', '/login');
const start = (from = '192.0.2.1', request = address()): Promise<Response> =>
  app.browser().get(loginOf(request), { 'X-Forwarded-For': from });

const transactions = () => app.redis.keys('{login}:transaction:*');
const storedQueries = async () =>
  Promise.all((await transactions()).map((key) => app.redis.hget(key, 'query')));
const counters = () => app.redis.keys('{login}:starts:*');

async function leave(count: number, max: number): Promise<string> {
  const [counter = '', ...others] = await counters();
  expect(others).toEqual([]);
  await app.redis.set(counter, max - count, 'KEEPTTL');
  return counter;
}

afterEach(async () => {
  await app.redis.del('none', ...(await transactions()), ...(await counters()));
});

const LONG = 'y'.repeat(12_000);

describe('the start of a login', () => {
  it.each([
    ['an unknown parameter', `/auth/login?x=${LONG}`, ''],
    ['an unknown redirect target', `/auth/login?to=${LONG}`, ''],
    ['repetitions of a parameter', `/auth/login?${'to=apps&'.repeat(1_500)}`, 'to=apps'],
  ])('does not store %s without an authorization request', async (_case, path, stored) => {
    expect((await app.browser().get(path)).status).toBe(303);
    expect(await storedQueries()).toEqual([stored]);
  });

  it('stores only the known parameters of a valid request', async () => {
    expect((await start(undefined, `${address()}&x=${LONG}&scope=`)).status).toBe(303);
    expect(await storedQueries()).toEqual([address().split('?')[1]]);
  });

  it('does not store an invalid request, even after a logout', async () => {
    const invalid = `client_id=${client.clientId}&redirect_uri=https://evil.example&state=s1&x=${LONG}`;
    const browser = app.browser();
    await logIn(browser);
    const account = await browser.get('/auth/');
    await app.redis.del(...(await transactions()));
    const form = formsOf(account.text).find(({ action }) => action === '/auth/logout');
    const out = await browser.post(`/auth/logout?${invalid}`, form?.hidden ?? {});
    for (const answer of [out, await browser.get(`/auth/login?${invalid}`)])
      expect(answer.headers['location']).toBe(`/auth/oauth2/authorize?${invalid}`);
    expect(await storedQueries()).toEqual([]);
  });
});

describe('the logins from one address', () => {
  it('are limited, even if they start concurrently', async () => {
    await start();
    const counter = await leave(3, LOGIN_STARTS.address);
    expect(counter).not.toContain('192.0.2.1');
    expect(await app.redis.ttl(counter)).toBeLessThanOrEqual(600);
    const before = (await transactions()).length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => start()));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(17);
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused[0]?.text).toContain('Too many people are logging in right now');
    expect((await transactions()).length).toBe(before + 3);
    expect((await start('192.0.2.2')).status).toBe(303);
  });

  it('are counted by the memory that they use in Redis', async () => {
    const large = address({ state: 'é'.repeat(900) });
    const answers = await Promise.all(
      [address(), large, address({ state: 's'.repeat(300) }), large].map((request) =>
        start(undefined, request),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    const used = await Promise.all((await transactions()).map((key) => app.redis.memory('USAGE', key)));
    const bytes = used.reduce<number>((sum, size) => sum + Number(size), 0);
    const [counter = ''] = await counters();
    const counted = Number(await app.redis.get(counter));
    expect(bytes).toBeLessThanOrEqual(counted * 1_024);
    expect(counted).toBeGreaterThan(12);
    await leave(3, LOGIN_STARTS.address);
    expect((await start(undefined, large)).status).toBe(429);
    expect((await start()).status).toBe(303);
  });

  it('are counted for the IPv6 network and its site', async () => {
    await start('2001:db8:1:1::1');
    await start('2001:db8:1:1:ffff::2');
    const counts = async () => (await app.redis.mget(await counters())).map(Number).toSorted((a, b) => a - b);
    expect(await counts()).toEqual([2, 2]);
    await start('2001:db8:1:2::1');
    expect(await counts()).toEqual([1, 2, 3]);
    for (const counter of await counters())
      if ((await app.redis.get(counter)) === '3') await app.redis.set(counter, LOGIN_STARTS.site, 'KEEPTTL');
    expect((await start('2001:db8:1:3::1')).status).toBe(429);
    expect((await start('2001:db8:2:3::1')).status).toBe(303);
  });
});

describe('a logout', () => {
  it('ends the session even if the limit of logins is reached', async () => {
    const browser = app.browser();
    const consent = await browser.follow(await logIn(browser));
    const session = browser.cookies.get('oauth_service_session') ?? '';
    for (const counter of await counters()) await app.redis.set(counter, LOGIN_STARTS.site, 'KEEPTTL');
    const out = await browser.submit(consent, {}, '/auth/logout');
    expect(out.status).toBe(429);
    expect(browser.cookies.has('oauth_service_session')).toBe(false);
    browser.cookies.set('oauth_service_session', session);
    expect((await browser.get('/auth/')).headers['location']).toBe('/auth/login');
  });
});
