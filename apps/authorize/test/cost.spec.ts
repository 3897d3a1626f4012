import { PushedRequestStore } from '#authorization/pushed-request.store.js';
import { generateRequestUri, pushedRequestId } from '#authorization/request-uri.js';
import type { Client } from '#directory/client.js';
import type { User } from '#directory/user.js';
import { isolate } from '#testing/isolate.js';
import { type AuthorizeApp, authorizeAddress, REDIRECT_URI, startAuthorizeApp } from './authorize-app.js';
import { Cable } from './cable.js';

let app: AuthorizeApp;
let postgres: Cable;
let client: Client;
let user: User;
let commands: string[];
let statements: string[];
let stopMonitor: () => void;

beforeAll(async () => {
  const services = await isolate();
  postgres = await Cable.to(services.databaseUrl);
  app = await startAuthorizeApp({ DATABASE_URL: postgres.url }, services);
  client = await app.client();
  user = await app.user();
  postgres.watch = (bytes) => statements.push(...statementsIn(bytes));
  const monitor = await app.redis.monitor();
  const database = new URL(services.redisUrl).pathname.slice(1) || '0';
  monitor.on('monitor', (_time: string, args: string[], source: string, db: string) => {
    // What a script does inside of Redis costs no round trip.
    if (db === database && source !== 'lua') commands.push(args[0] ?? '');
  });
  stopMonitor = () => monitor.disconnect();
});

beforeEach(() => {
  commands = [];
  statements = [];
});

afterAll(async () => {
  stopMonitor();
  await app.close();
  postgres.close();
});

/** SQL that a client sends (PostgreSQL's protocol: Parse and simple Query messages). */
function statementsIn(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    const text = bytes.subarray(at + 5, at + 1 + bytes.readUInt32BE(at + 1));
    if (type === 'P' || type === 'Q') found.push(/[A-Z]{4,}/.exec(text.toString())?.[0] ?? '');
  }
  return found;
}

const address = () =>
  authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's' });

/** Monitoring lags behind by a moment. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 100));

async function cost<T>(action: () => Promise<T>): Promise<T> {
  await settled();
  commands = [];
  statements = [];
  const result = await action();
  await settled();
  return result;
}

it('the consent page costs one Redis command and two queries', async () => {
  const browser = await app.loggedIn(user);
  await browser.get(address());
  expect((await cost(() => browser.get(address()))).status).toBe(200);
  expect(commands).toEqual(['getex']);
  expect(statements).toEqual(['SELECT', 'SELECT']);
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
  expect(statements).toEqual(['SELECT', 'WITH']);
});

it('a pushed request costs one script more on the page, and one more for the answer', async () => {
  const store = new PushedRequestStore(app.redis);
  const pushed = async (): Promise<string> => {
    const requestUri = generateRequestUri();
    const parameters = new URLSearchParams({ redirect_uri: REDIRECT_URI, state: 's' }).toString();
    await store.push(pushedRequestId(requestUri) ?? '', client.clientId, parameters, 60);
    return authorizeAddress({ client_id: client.clientId, request_uri: requestUri });
  };
  const browser = await app.loggedIn(user);
  const allow = (page: Awaited<ReturnType<typeof browser.get>>) =>
    browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  // Redis knows the scripts from the second time on.
  await allow(await browser.get(await pushed()));
  const address = await pushed();
  const page = await cost(() => browser.get(address));
  expect(commands).toEqual(['evalsha', 'getex']);
  expect(statements).toEqual(['SELECT', 'SELECT']);
  expect((await cost(() => allow(page))).status).toBe(303);
  expect(commands).toEqual(['evalsha', 'getex', 'evalsha', 'evalsha']);
  expect(statements).toEqual(['SELECT', 'WITH']);
});

it('a request that is refused for its client or redirect URI costs one query at most, and no Redis', async () => {
  await cost(() =>
    app.browser().get('/auth/oauth2/authorize?client_id=sc_x&redirect_uri=https://x.example/'),
  );
  expect(commands).toEqual([]);
  expect(statements).toEqual(['SELECT']);
  await cost(() => app.browser().get('/auth/oauth2/authorize'));
  expect(statements).toEqual([]);
});
