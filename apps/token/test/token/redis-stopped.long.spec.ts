import { setTimeout as sleep } from 'node:timers/promises';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { type PrivateRedis, startPrivateRedis } from '#test/topology/redis-cluster.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';

/** The default of production. */
const DEPENDENCY_TIMEOUT = 2;
const REPETITIONS = 4;

let redis: PrivateRedis;
let app: TokenApp;
let client: Record<string, string>;
let userId: number;

beforeAll(async () => {
  redis = await startPrivateRedis();
  app = await startTokenApp(async (services) => {
    services.redisUrl = redis.url;
    return { REDIS_URL: redis.url, DEPENDENCY_TIMEOUT };
  });
  client = { ...(await app.client()) };
  userId = await app.user();
  await pair();
});

afterAll(async () => {
  await app.close();
  await redis.close();
});

const post = (form: Readonly<Record<string, string>>) =>
  fetch(`${app.url}/api/auth/oauth/token`, {
    method: 'POST',
    // A device is a public client.
    body: new URLSearchParams(form['client_id'] === undefined ? { ...client, ...form } : form),
  });

async function exchange(): Promise<Record<string, string>> {
  const code = await app.code(client['client_id'] ?? '', userId);
  return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
}

async function pair(): Promise<{ access_token: string; refresh_token: string }> {
  const answer = await post(await exchange());
  expect(answer.status).toBe(200);
  return (await answer.json()) as { access_token: string; refresh_token: string };
}

const refresh = async () => ({ grant_type: 'refresh_token', refresh_token: (await pair()).refresh_token });

async function poll(): Promise<Record<string, string>> {
  const { clientId: client_id } = await app.clients.create({
    name: 'Room display',
    type: 'public',
    scopes: ['profile:read'],
    redirectUris: [],
    deviceGrant: true,
  });
  return { client_id, grant_type: DEVICE_CODE, device_code: await app.deviceCode(client_id, userId) };
}

/** Repeats a request as the error says. */
async function repeat(form: Record<string, string>, first: Response): Promise<Response> {
  let answer = first;
  for (let attempt = 0; answer.status === 503 && attempt < 60; attempt++) {
    expect(answer.headers.get('retry-after')).toBe('1');
    await sleep(1_000);
    answer = await post(form);
  }
  return answer;
}

const REQUESTS = [
  ['code exchange', exchange],
  ['refresh', refresh],
  ['poll of a device', poll],
] as const;

describe.each([2.2, 3, 5])('a request that got 503 because Redis was stopped for %s s', (seconds) => {
  let sent: { readonly name: string; readonly form: Record<string, string>; readonly response: Response }[];

  // One stop for the requests of all tests.
  beforeAll(async () => {
    const repeated = REQUESTS.flatMap((request) => Array.from({ length: REPETITIONS }, () => request));
    const forms = await Promise.all(repeated.map(async ([name, create]) => ({ name, form: await create() })));
    redis.node.signal('SIGSTOP');
    const responses = forms.map(async ({ name, form }) => ({ name, form, response: await post(form) }));
    try {
      await sleep(seconds * 1_000);
    } finally {
      redis.node.signal('SIGCONT');
    }
    sent = await Promise.all(responses);
  });

  // @reliability redis-slow
  it.each(REQUESTS.map(([name]) => name))('was not executed and can be repeated: %s', async (name) => {
    const requests = sent.filter((request) => request.name === name);
    // On a busy machine, a request may reach Redis only after the stop.
    if (seconds > 3) expect(requests.map(({ response }) => response.status)).toContain(503);
    const repeated = await Promise.all(requests.map(({ form, response }) => repeat(form, response)));
    expect(repeated.map(({ status }) => status)).toEqual(requests.map(() => 200));
    // The grants are live, and no request was executed twice.
    for (const [n, answer] of repeated.entries()) {
      const { refresh_token: token = '' } = (await answer.json()) as Record<string, string>;
      const { client_id: id } = requests[n]?.form ?? {};
      const next = {
        ...(id !== undefined && { client_id: id }),
        grant_type: 'refresh_token',
        refresh_token: token,
      };
      expect((await post(next)).status).toBe(200);
    }
  });
});
