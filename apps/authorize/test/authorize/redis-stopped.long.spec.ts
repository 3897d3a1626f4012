import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'supertest';
import type { User } from '#users/user.js';
import { isolate } from '#test/support/isolate.js';
import { type Browser, statusOf } from '#test/support/browser.js';
import { type PrivateRedis, startPrivateRedis } from '#test/topology/redis-node.js';
import {
  authorizeAddress,
  type AuthorizeApp,
  PASSWORD,
  REDIRECT_URI,
  startAuthorizeApp,
} from '../support/start-authorize-app.js';
import { waitingDevice } from '../support/waiting-device.js';

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
  const client = await app.client({ rules: { deviceGrant: true } });
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
  // @reliability redis-slow
  it.each(ACTIONS)('can be sent again, and the user arrives: %s', async (_name, prepare) => {
    const actions = await Promise.all([1, 2].map(() => prepared(prepare)));
    redis.node.signal('SIGSTOP');
    const sent = actions.map(({ submit }) => submit());
    try {
      await sleep(seconds * 1_000);
    } finally {
      redis.node.signal('SIGCONT');
    }
    const responses = await Promise.all(sent);
    // On a busy machine, a form may reach Redis only after the stop.
    if (seconds > 3) expect(responses.map(({ status }) => status)).toContain(503);
    for (const [n, action] of actions.entries())
      await action.arrived(await repeat(action, responses[n] as Response));
  });
});
