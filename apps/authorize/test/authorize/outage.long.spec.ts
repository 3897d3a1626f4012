import { authorizeAddress, PASSWORD, REDIRECT_URI } from '../support/start-authorize-app.js';
import { useProxiedAuthorizeApp } from '../support/use-authorize-app.js';

const { app, client, user, proxies } = useProxiedAuthorizeApp();

const address = () =>
  authorizeAddress({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    prompt: 'consent',
  });

describe.each([
  ['Redis', () => proxies.redis],
  ['PostgreSQL', () => proxies.postgres],
])('while %s is unavailable', (_name, proxy) => {
  afterEach(() => proxy().reconnect());

  const expectUnavailable = ({
    status,
    text,
    headers,
  }: {
    status: number;
    text: string;
    headers: Record<string, string>;
  }) => {
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('1');
    expect(text).toContain('Our service is temporarily unavailable');
    expect(text).toMatch(/Reference: <code>/);
    expect(text).not.toMatch(/ECONN|redis|postgres|Connection/i);
  };

  // @deviation D9 @reliability redis-down
  it('the consent page, Allow and the login respond with 503, and work again afterwards', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    const visitor = app.browser();
    const login = await visitor.get('/auth/login');
    const answers = { username: user.email, password: PASSWORD };

    proxy().disconnect();
    expectUnavailable(await browser.get(address()));
    expectUnavailable(await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize'));
    expectUnavailable(await visitor.submit(login, answers));

    proxy().reconnect();
    await recovered(async () => (await browser.get(address())).status === 200);
    expect((await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize')).status).toBe(303);
    expect((await visitor.submit(login, answers)).status).toBe(303);
  });

  it('requests that do not need the dependency get their usual responses', async () => {
    proxy().disconnect();
    expect((await app.browser().get('/auth/oauth2/authorize')).status).toBe(400);
    expect((await app.browser().get('/auth/login')).status).toBe(200);
    expect((await app.browser().get('/nothing')).status).toBe(404);
    proxy().reconnect();
    await recovered(async () => (await app.browser().get(address())).status === 303);
  });
});

it('the login page of an authorization request responds with 503 while PostgreSQL is unavailable', async () => {
  const login = address().replace('/auth/oauth2/authorize', '/auth/login');
  proxies.postgres.disconnect();
  const answer = await app.browser().get(login);
  proxies.postgres.reconnect();
  expect(answer.status).toBe(503);
  await recovered(async () => (await app.browser().get(login)).status === 200);
});

it('a submission of Allow that fails in Redis leaves no grant in PostgreSQL', async () => {
  const visitor = await app.user();
  const browser = await app.loggedIn(visitor);
  const page = await browser.get(address());
  proxies.redis.onData = (bytes) => {
    if (bytes.includes('grant:')) proxies.redis.disconnect();
  };
  const answer = await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  proxies.redis.onData = () => undefined;
  proxies.redis.reconnect();
  expect(answer.status).toBe(503);
  expect(await app.sql('SELECT 1 FROM grants WHERE user_id = $1', [visitor.id])).toEqual([]);
  await recovered(async () => (await browser.get(address())).status === 200);
  const again = await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  expect(again.headers['location']).toContain('code=');
});

async function recovered(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('the app did not recover within 60 s');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it('logins during an outage of PostgreSQL are not counted as failures', async () => {
  const visitor = app.browser();
  const page = await visitor.get('/auth/login');
  const login = { username: user.email, password: PASSWORD };
  proxies.postgres.disconnect();
  for (let tries = 0; tries < 8; tries += 1) expect((await visitor.submit(page, login)).status).toBe(503);
  proxies.postgres.reconnect();
  await recovered(async () => (await visitor.submit(page, login)).status === 303);
});

describe('with a dependency timeout of one second', () => {
  const impatient = useProxiedAuthorizeApp({ DEPENDENCY_TIMEOUT: 1 });

  it('logins that time out in Redis are not counted as failures', async () => {
    const visitor = impatient.app.browser();
    const page = await visitor.get('/auth/login');
    const login = { username: (await impatient.app.user()).email, password: PASSWORD };
    impatient.proxies.redis.hold();
    const tries = Array.from({ length: 8 }, () => visitor.submit(page, login));
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual(tries.map(() => 503));
    impatient.proxies.redis.release();
    await recovered(async () => {
      const { status } = await visitor.submit(page, login);
      expect(status).not.toBe(429);
      return status === 303;
    });
  });
});
