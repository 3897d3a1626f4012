import type { Client } from '#directory/client.js';
import type { User } from '#directory/user.js';
import { isolate, type Isolated } from '#testing/isolate.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  PASSWORD,
  REDIRECT_URI,
  startAuthorizeApp,
} from './authorize-app.js';
import { Cable } from './cable.js';

let app: AuthorizeApp;
let services: Isolated;
let redis: Cable;
let postgres: Cable;
let client: Client;
let user: User;

beforeAll(async () => {
  services = await isolate();
  redis = await Cable.to(services.redisUrl);
  postgres = await Cable.to(services.databaseUrl);
  app = await startAuthorizeApp({ REDIS_URL: redis.url, DATABASE_URL: postgres.url }, services);
  client = await app.client();
  user = await app.user();
});

afterAll(async () => {
  await app.close();
  redis.close();
  postgres.close();
});

const address = () =>
  authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's' });

describe.each([
  ['Redis', () => redis],
  ['PostgreSQL', () => postgres],
])('while %s does not answer', (_name, cable) => {
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
    expect(text).toContain('We cannot answer just now');
    expect(text).toMatch(/Reference: <code>/);
    expect(text).not.toMatch(/ECONN|redis|postgres|Connection/i);
  };

  it('the consent page, Allow and the login are 503 pages, and work again afterwards', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    const stranger = app.browser();
    const login = await stranger.get('/auth/login');
    const answers = { username: user.email, password: PASSWORD };

    cable().cut();
    expectUnavailable(await browser.get(address()));
    expectUnavailable(await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize'));
    expectUnavailable(await stranger.submit(login, answers));

    cable().mend();
    await recovered(async () => (await browser.get(address())).status === 200);
    expect((await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize')).status).toBe(303);
    expect((await stranger.submit(login, answers)).status).toBe(303);
  });

  it('errors that need no look at it stay what they are', async () => {
    cable().cut();
    expect((await app.browser().get('/auth/oauth2/authorize')).status).toBe(400);
    expect((await app.browser().get('/auth/login')).status).toBe(200);
    expect((await app.browser().get('/nothing')).status).toBe(404);
    cable().mend();
    await recovered(async () => (await app.browser().get(address())).status === 303);
  });
});

async function recovered(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('it did not recover in 10 s');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
