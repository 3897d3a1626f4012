import { createServer, type Server, type ServerResponse } from 'node:http';
import { jest } from '@jest/globals';
import { freePort } from '#local/servers/free-port.js';
import { until } from '#test/support/until.js';
import { expectConsentPage } from '../support/use-requests.js';
import { expectRefused, ProductKey, PROFILE, useJwtLogin } from './use-jwt-login.js';

const port = await freePort();
const { app, proxies, address, challenge, jwtLogin } = useJwtLogin({
  LOGIN_JWKS_URL: `http://127.0.0.1:${port}/jwks.json`,
});

const [first, second] = [new ProductKey(), new ProductKey()];
let served: { status: number; body: string; location?: string; endless?: true };
let fetches = 0;
let server: Server | null = null;

const serve = (...keys: object[]) => (served = { status: 200, body: JSON.stringify({ keys }) });
const named = (key: ProductKey, kid: string) => ({ ...key.jwk, kid });

async function listen(): Promise<void> {
  server = createServer((_request, response) => {
    fetches += 1;
    if (served.endless) return sendWithoutEnd(response);
    response.writeHead(served.status, served.location === undefined ? {} : { Location: served.location });
    response.end(served.body);
  });
  await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
}

/** Bytes of the endless response that were sent before the client closed the connection. */
let sent = 0;

function sendWithoutEnd(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  sent = 0;
  const send = () => {
    while (!response.destroyed && sent < 100 * 1024 * 1024) {
      sent += chunk.length;
      if (!response.write(chunk)) return response.once('drain', send);
    }
    return response.end();
  };
  response.writeHead(200);
  send();
}

async function stop(): Promise<void> {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  server = null;
}

/** Real time in seconds, because tests mock Date.now. */
const seconds = () => Math.floor((performance.timeOrigin + performance.now()) / 1000);

async function attempt(key: ProductKey, kid: string, browser = app.browser()) {
  const claims = { ...PROFILE, iat: seconds() };
  const assertion = await key.assertion(await challenge(browser), { header: { kid }, claims });
  return { browser, assertion, answer: await jwtLogin(browser, assertion) };
}

const startLink = () => `href="${address().replace('/oauth2/authorize', '/login').replaceAll('&', '&amp;')}"`;

afterEach(() => jest.restoreAllMocks());
afterAll(stop);

// The tests depend on their order, because the keys stay cached.
it('the login is unavailable until the keys have been fetched, and its page restarts the request', async () => {
  const { answer } = await attempt(first, 'a');
  expectRefused(answer, 503, 'Login is temporarily unavailable');
  expect(answer.text).toContain(startLink());
  expect(answer.headers['retry-after']).toBeDefined();
});

it.each([
  ['an error', { status: 500, body: '' }],
  ['a page', { status: 200, body: '<html>' }],
  ['JSON without keys', { status: 200, body: '{"keys":1}' }],
  [
    'more than 512 KiB',
    { status: 200, body: JSON.stringify({ keys: [named(first, 'a')], x: 'x'.repeat(600_000) }) },
  ],
  ['a redirect', { status: 302, body: '', location: `http://127.0.0.1:${port}/other` }],
])('the login is unavailable while LOGIN_JWKS_URL returns %s', async (_case, answer) => {
  if (server === null) await listen();
  served = answer;
  expectRefused((await attempt(first, 'a')).answer, 503, 'Login is temporarily unavailable');
});

it('the app stops reading an endless response', async () => {
  served = { status: 200, body: '', endless: true };
  expectRefused((await attempt(first, 'a')).answer, 503, 'Login is temporarily unavailable');
  // The server sends more than the limit of 512 KiB, because both sockets buffer data.
  expect(sent).toBeLessThan(16 * 1024 * 1024);
});

it('the app accepts the published keys, and fetches them once', async () => {
  serve(named(first, 'a'));
  fetches = 0;
  for (let times = 0; times < 3; times += 1) {
    const { browser, answer } = await attempt(first, 'a');
    expectConsentPage(await browser.follow(answer));
  }
  expect(fetches).toBe(1);
});

it('the app accepts a rotated key immediately, and then rejects the old key', async () => {
  serve(named(second, 'b'));
  expect((await attempt(second, 'b')).answer.status).toBe(303);
  expectRefused((await attempt(first, 'a')).answer, 403, 'Login failed');
});

it('the app fetches the keys at most five times a minute for assertions with unknown keys', async () => {
  const now = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => now() + 61_000);
  fetches = 0;
  for (let times = 0; times < 7; times += 1)
    expectRefused((await attempt(first, 'c')).answer, 403, 'Login failed');
  expect(fetches).toBe(5);
});

it('the app uses the cached keys while LOGIN_JWKS_URL is unavailable', async () => {
  await stop();
  const { browser, answer } = await attempt(second, 'b');
  expect(answer.status).toBe(303);
  expectConsentPage(await browser.get(address()));
});

it('the error page restarts the authorization request when PostgreSQL is unavailable', async () => {
  const browser = app.browser();
  const assertion = await second.assertion(await challenge(browser), {
    header: { kid: 'b' },
    claims: PROFILE,
  });
  proxies.postgres.disconnect();
  try {
    const page = await jwtLogin(browser, assertion);
    expectRefused(page, 503, 'Login is temporarily unavailable');
    expect(page.text).toContain(startLink());
  } finally {
    proxies.postgres.reconnect();
  }
});

it('an assertion can be submitted again after an outage of Redis', async () => {
  const browser = app.browser();
  const assertion = await second.assertion(await challenge(browser), {
    header: { kid: 'b' },
    claims: PROFILE,
  });
  proxies.redis.disconnect();
  try {
    expect((await jwtLogin(browser, assertion)).status).toBe(503);
  } finally {
    proxies.redis.reconnect();
  }
  await until('Redis is connected again', 30_000, async () => (await browser.get('/auth/')).status === 303);
  expectConsentPage(await browser.follow(await jwtLogin(browser, assertion)));
});
