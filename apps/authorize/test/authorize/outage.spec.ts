import { authorizeAddress, PASSWORD, REDIRECT_URI } from '../support/authorize-app.js';
import { useCabledAuthorizeApp } from '../support/use-authorize-app.js';

const { app, client, user, cables } = useCabledAuthorizeApp();

const address = () =>
  authorizeAddress({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    prompt: 'consent',
  });

describe.each([
  ['Redis', () => cables.redis],
  ['PostgreSQL', () => cables.postgres],
])('while %s is unavailable', (_name, cable) => {
  afterEach(() => cable().mend());

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

  // @deviation D9
  it('the consent page, Allow and the login respond 503, and work again afterwards', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    const visitor = app.browser();
    const login = await visitor.get('/auth/login');
    const answers = { username: user.email, password: PASSWORD };

    cable().cut();
    expectUnavailable(await browser.get(address()));
    expectUnavailable(await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize'));
    expectUnavailable(await visitor.submit(login, answers));

    cable().mend();
    await recovered(async () => (await browser.get(address())).status === 200);
    expect((await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize')).status).toBe(303);
    expect((await visitor.submit(login, answers)).status).toBe(303);
  });

  it('errors that do not depend on it stay the same', async () => {
    cable().cut();
    expect((await app.browser().get('/auth/oauth2/authorize')).status).toBe(400);
    expect((await app.browser().get('/auth/login')).status).toBe(200);
    expect((await app.browser().get('/nothing')).status).toBe(404);
    cable().mend();
    await recovered(async () => (await app.browser().get(address())).status === 303);
  });
});

it('the login page of an authorization request responds 503 while PostgreSQL is unavailable', async () => {
  const login = address().replace('/auth/oauth2/authorize', '/auth/login');
  cables.postgres.cut();
  const answer = await app.browser().get(login);
  cables.postgres.mend();
  expect(answer.status).toBe(503);
  await recovered(async () => (await app.browser().get(login)).status === 200);
});

it('an Allow that fails in Redis leaves no grant in PostgreSQL', async () => {
  const visitor = await app.user();
  const browser = await app.loggedIn(visitor);
  const page = await browser.get(address());
  cables.redis.watch = (bytes) => {
    if (bytes.includes('grant:')) cables.redis.cut();
  };
  const answer = await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  cables.redis.watch = () => undefined;
  cables.redis.mend();
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
  cables.postgres.cut();
  for (let tries = 0; tries < 8; tries += 1) expect((await visitor.submit(page, login)).status).toBe(503);
  cables.postgres.mend();
  await recovered(async () => (await visitor.submit(page, login)).status === 303);
});

describe('with a dependency timeout of one second', () => {
  const impatient = useCabledAuthorizeApp({ DEPENDENCY_TIMEOUT: 1 });

  it('logins that time out in Redis are not counted as failures', async () => {
    const visitor = impatient.app.browser();
    const page = await visitor.get('/auth/login');
    const login = { username: (await impatient.app.user()).email, password: PASSWORD };
    impatient.cables.redis.hold();
    const tries = Array.from({ length: 8 }, () => visitor.submit(page, login));
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual(tries.map(() => 503));
    impatient.cables.redis.release();
    await recovered(async () => {
      const { status } = await visitor.submit(page, login);
      expect(status).not.toBe(429);
      return status === 303;
    });
  });
});
