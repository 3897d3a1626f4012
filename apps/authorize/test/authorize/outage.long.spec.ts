import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'supertest';
import type { User } from '#users/user.js';
import { isolate } from '#test/support/isolate.js';
import { type Browser, statusOf } from '#test/support/browser.js';
import { type PrivateRedis, startPrivateRedis } from '#test/topology/redis-cluster.js';
import {
  authorizeAddress,
  type AuthorizeApp,
  PASSWORD,
  REDIRECT_URI,
  startAuthorizeApp,
  useProxiedAuthorizeApp,
} from '../support/start-authorize-app.js';
import { waitingDevice } from '../support/waiting-device.js';

describe('outage', () => {
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
});

describe('redis stopped', () => {
  /** The default of production. */
  const DEPENDENCY_TIMEOUT = 2;

  let redis: PrivateRedis;
  let app: AuthorizeApp;

  beforeAll(async () => {
    redis = await startPrivateRedis();
    const services = await isolate();
    app = await startAuthorizeApp({ DEPENDENCY_TIMEOUT }, { ...services, redisUrl: redis.url });
  });

  afterAll(async () => {
    await app.close();
    await redis.close();
  });

  /** A submission, which the user repeats with the same form, and what it must lead to. */
  interface Action {
    readonly submit: () => Promise<Response>;
    readonly arrived: (answer: Response) => Promise<void>;
  }

  const records = ({ id }: User) =>
    app.sql<{ revoked_at: Date | null }>('SELECT revoked_at FROM grants WHERE user_id = $1', [id]);

  async function logIn(user: User): Promise<Action> {
    const browser = app.browser();
    const page = await browser.get('/auth/login');
    return {
      submit: () => browser.submit(page, { username: user.email, password: PASSWORD }),
      arrived: async () => expect((await browser.get('/auth/')).status).toBe(200),
    };
  }

  async function consent(user: User): Promise<{ browser: Browser; page: Response }> {
    const { clientId } = await app.client();
    const browser = await app.loggedIn(user);
    // A login for this request counts once, and must count again for the same form.
    const request = { client_id: clientId, redirect_uri: REDIRECT_URI, state: 's', prompt: 'login consent' };
    const login = await browser.open(authorizeAddress(request));
    const answer = await browser.submit(login, { username: user.email, password: PASSWORD });
    return { browser, page: await browser.follow(answer) };
  }

  async function allow(user: User): Promise<Action> {
    const { browser, page } = await consent(user);
    return {
      submit: () => browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize'),
      arrived: async ({ headers }) => {
        expect(headers['location']).toMatch(/[?&]code=sac_/);
        expect(await records(user)).toEqual([{ revoked_at: null }]);
      },
    };
  }

  async function approveDevice(user: User): Promise<Action> {
    const client = await app.client({ deviceGrant: true });
    const { userCode, grantId } = await waitingDevice(app, client, 'profile:read');
    const browser = await app.loggedIn(user);
    const page = await browser.submit(
      await browser.get('/auth/device'),
      { user_code: userCode },
      '/auth/device',
    );
    return {
      submit: () => browser.submit(page, { decision: 'allow' }, '/auth/device/decision'),
      arrived: async (answer) => {
        expect(statusOf(await browser.follow(answer))).toContain('now has access');
        expect(await app.redis.hget(`grant:${grantId}`, 's')).toBe('p');
        expect(await records(user)).toEqual([{ revoked_at: null }]);
      },
    };
  }

  const logOutAt =
    (action: string) =>
    async (user: User): Promise<Action> => {
      const browser = await app.loggedIn(user);
      const cookie = browser.cookies.get('oauth_service_session') ?? '';
      const page = await browser.get('/auth/');
      return {
        submit: () => browser.submit(page, {}, action),
        arrived: async (answer) => {
          expect(statusOf(await browser.follow(answer))).toContain('You have been logged out');
          browser.cookies.set('oauth_service_session', cookie);
          expect((await browser.get('/auth/')).headers['location']).toBe('/auth/login');
        },
      };
    };

  const ACTIONS = [
    ['login', logIn],
    ['Allow', allow],
    ['approval of a device', approveDevice],
    ['log-out', logOutAt('/auth/logout')],
    ['log-out everywhere', logOutAt('/auth/logout-everywhere')],
  ] as const;

  /** Retries, because a busy machine may also delay the requests that prepare the form. */
  async function prepared(prepare: (user: User) => Promise<Action>, attempts = 10): Promise<Action> {
    try {
      return await prepare(await app.user());
    } catch (error) {
      if (attempts === 1) throw error;
      await sleep(1_000);
      return prepared(prepare, attempts - 1);
    }
  }

  /** Repeats a submission as the page says. */
  async function repeat({ submit }: Action, first: Response): Promise<Response> {
    let answer = first;
    for (let attempt = 0; answer.status === 503 && attempt < 60; attempt++) {
      expect(answer.headers['retry-after']).toBe('1');
      await sleep(1_000);
      answer = await submit();
    }
    return answer;
  }

  describe.each([2.2, 3, 5])('a form that got 503 because Redis was stopped for %s s', (seconds) => {
    let submitted: { readonly name: string; readonly action: Action; readonly response: Response }[];

    // One stop for the forms of all tests.
    beforeAll(async () => {
      const forms = await Promise.all(
        [...ACTIONS, ...ACTIONS].map(async ([name, prepare]) => ({ name, action: await prepared(prepare) })),
      );
      redis.node.signal('SIGSTOP');
      const sent = forms.map(async (form) => ({ ...form, response: await form.action.submit() }));
      try {
        await sleep(seconds * 1_000);
      } finally {
        redis.node.signal('SIGCONT');
      }
      submitted = await Promise.all(sent);
    });

    // @reliability redis-slow
    it.each(ACTIONS.map(([name]) => name))('can be sent again, and the user arrives: %s', async (name) => {
      const forms = submitted.filter((form) => form.name === name);
      // On a busy machine, a form may reach Redis only after the stop.
      if (seconds > 3) expect(forms.map(({ response }) => response.status)).toContain(503);
      for (const { action, response } of forms) await action.arrived(await repeat(action, response));
    });
  });
});
