import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { monitorRedis } from '#test/support/redis-monitor.js';
import {
  authorizeAddress,
  PASSWORD,
  REDIRECT_URI,
  useProxiedAuthorizeApp,
} from '../support/start-authorize-app.js';
import { freshAddress, tryLogin } from '../support/throttle-guesser.js';
import { storePushed } from '../support/use-pushed-requests.js';

const { app, client, user, proxies } = useProxiedAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
let commands: string[] = [];
const marks: string[] = [];
let statements: string[] = [];
let stopMonitor: () => void;

beforeAll(async () => {
  proxies.postgres.onStatement = (sql) => statements.push(/[A-Z]{4,}/.exec(sql)?.[0] ?? '');
  stopMonitor = await monitorRedis(app.services.redisUrl, ([name = '', text = ''], source) => {
    // Commands inside a script do not cost a round trip.
    if (source === 'lua') return;
    if (name === 'echo') marks.push(text);
    else commands.push(name);
  });
});

beforeEach(() => {
  commands = [];
  statements = [];
});

afterAll(() => stopMonitor());

const address = (prompt = 'consent') =>
  authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's', prompt });

/** Waits until the monitor, whose output is delayed, has received all commands that were sent so far. */
async function settled(): Promise<void> {
  const mark = randomUUID();
  await app.redis.echo(mark);
  while (!marks.includes(mark)) await new Promise(setImmediate);
}

async function cost<T>(action: () => Promise<T>): Promise<T> {
  await settled();
  commands = [];
  statements = [];
  const result = await action();
  await settled();
  return result;
}

it('the consent page costs one Redis command and one query', async () => {
  const browser = await app.loggedIn(user);
  await browser.get(address());
  expect((await cost(() => browser.get(address()))).status).toBe(200);
  expect(commands).toEqual(['getex']);
  expect(statements).toEqual(['WITH']);
});

it('Allow costs two Redis commands, one query and one insert', async () => {
  const browser = await app.loggedIn(user);
  const allow = async () =>
    browser.submit(await browser.get(address()), { decision: 'allow' }, '/auth/oauth2/authorize');
  await allow();
  const page = await browser.get(address());
  const answer = await cost(() => browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize'));
  expect(answer.status).toBe(303);
  expect(commands).toEqual(['getex', 'evalsha']);
  expect(statements).toEqual(['WITH', 'WITH']);
});

it('Cancel costs two Redis commands, one query and one deletion', async () => {
  const browser = await app.loggedIn(user);
  const cancel = async (page: Response) =>
    browser.submit(page, { decision: 'deny' }, '/auth/oauth2/authorize');
  await cancel(await browser.get(address()));
  const page = await browser.get(address());
  expect((await cost(() => cancel(page))).status).toBe(303);
  expect(commands).toEqual(['getex', 'evalsha']);
  expect(statements).toEqual(['WITH', 'DELETE']);
});

it('issuing a code because the user consented earlier costs the same as Allow', async () => {
  const browser = await app.loggedIn(user);
  await browser.submit(await browser.get(address()), { decision: 'allow' }, '/auth/oauth2/authorize');
  const answer = await cost(() => browser.get(address('')));
  expect(answer.headers['location']).toContain('code=');
  expect(commands).toEqual(['getex', 'evalsha']);
  expect(statements).toEqual(['WITH', 'WITH']);
});

it('prompt=login adds one script to the decision, and nothing to the page', async () => {
  const browser = app.browser();
  const logIn = async () => {
    const login = await browser.follow(await browser.get(address('login consent')));
    return browser.submit(login, { username: user.email, password: PASSWORD }, '/auth/login');
  };
  const answer = async (page: Response) =>
    browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  await answer(await browser.follow(await logIn()));
  const loggedIn = await logIn();
  const page = await cost(() => browser.follow(loggedIn));
  expect([page.status, commands, statements]).toEqual([200, ['getex'], ['WITH']]);
  expect((await cost(() => answer(page))).headers['location']).toContain('code=');
  expect(commands).toEqual(['getex', 'evalsha', 'evalsha']);
  expect(statements).toEqual(['WITH', 'WITH']);
});

it('the login page costs one query for an authorization request, and none otherwise', async () => {
  await cost(() => app.browser().get(address().replace('oauth2/authorize', 'login')));
  expect([commands, statements]).toEqual([[], ['WITH']]);
  await cost(() => app.browser().get('/auth/login'));
  expect([commands, statements]).toEqual([[], []]);
});

it('a pushed request adds one script to the page and two to the decision', async () => {
  const pushed = async (): Promise<string> => {
    const parameters = { redirect_uri: REDIRECT_URI, state: 's', prompt: 'consent' };
    const request_uri = await storePushed(app.redis, client.clientId, parameters);
    return authorizeAddress({ client_id: client.clientId, request_uri });
  };
  const browser = await app.loggedIn(user);
  const allow = (page: Awaited<ReturnType<typeof browser.get>>) =>
    browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  // The first use loads the scripts.
  await allow(await browser.get(await pushed()));
  const address = await pushed();
  const page = await cost(() => browser.get(address));
  expect(commands).toEqual(['getex', 'evalsha']);
  expect(statements).toEqual(['WITH']);
  expect((await cost(() => allow(page))).status).toBe(303);
  expect(commands).toEqual(['getex', 'evalsha', 'evalsha', 'evalsha']);
  expect(statements).toEqual(['WITH', 'WITH']);
});

it('a request of an unknown client costs one query and no Redis command; without client_id, it costs no query', async () => {
  await cost(() =>
    app.browser().get('/auth/oauth2/authorize?client_id=sc_x&redirect_uri=https://x.example/'),
  );
  expect(commands).toEqual([]);
  expect(statements).toEqual(['WITH']);
  await cost(() => app.browser().get('/auth/oauth2/authorize'));
  expect(statements).toEqual([]);
});

it('a login costs seven Redis commands and one query', async () => {
  const logIn = () => tryLogin(app, { username: user.email, password: PASSWORD, from: freshAddress() });
  await logIn();
  expect((await cost(logIn)).status).toBe(303);
  expect(commands).toEqual(['evalsha', 'evalsha', 'del', 'zrem', 'zrem', 'set', 'evalsha']);
  expect(statements).toEqual(['WITH']);
});

it('a throttled login costs one script and no query, whether or not the account exists', async () => {
  for (const username of [user.email, 'nobody', user.username]) {
    const from = freshAddress();
    for (let failures = 0; failures < 5; failures += 1) await tryLogin(app, { username, from });
    for (const device of [undefined, 'A'.repeat(88)]) {
      expect((await cost(() => tryLogin(app, { username, from, device }))).status).toBe(429);
      expect(commands).toEqual(['evalsha']);
      expect(statements).toEqual([]);
    }
  }
});
