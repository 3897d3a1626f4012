import { setTimeout as sleep } from 'node:timers/promises';
import { STALL_MS } from '#platform/http/request-hooks.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { storedGrant } from '#test/support/stored.js';
import { startTokenProcess, type TokenProcess } from '#test/support/token-process.js';

let app: TokenProcess;

beforeAll(async () => {
  app = await startTokenProcess();
});

afterAll(() => app.close());

const post = (form: Record<string, string>): Promise<Response> =>
  fetch(`${app.url}/api/auth/oauth/token`, {
    method: 'POST',
    headers: { origin: 'https://spa.example.com' },
    body: new URLSearchParams({ ...app.ours, ...form }),
  });

const refresh = (refresh_token: string): Promise<Response> =>
  post({ grant_type: 'refresh_token', refresh_token });

async function refreshToken(): Promise<string> {
  const code = await app.code(app.ours.client_id, app.userId);
  const answer = await post({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
  return ((await answer.json()) as { refresh_token: string }).refresh_token;
}

const generation = async (token: string) => (await storedGrant(app.redis, app.grantIdOf(token))).generation;

async function stall(work: () => void): Promise<void> {
  process.kill(app.process.pid, 'SIGSTOP');
  try {
    work();
    await sleep(STALL_MS + 1_000);
  } finally {
    process.kill(app.process.pid, 'SIGCONT');
  }
}

async function expectUnavailable(answer: Response): Promise<void> {
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(await answer.json()).toMatchObject({ error: 'temporarily_unavailable' });
}

async function expectServed(token: string): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    const answer = await refresh(token);
    if (answer.status === 503) continue;
    expect(answer.status).toBe(200);
    return;
  }
  throw new Error('the app does not recover');
}

// RFC 9700 4.14.2: a refresh token that arrives after its successor was used revokes the grant. A client that got no
// response repeats the refresh at another replica. The stalled replica must not process the first request afterwards.
// @reliability replica-stopped
it('the token app refuses requests that waited while the event loop was stalled', async () => {
  const tokens = [await refreshToken(), await refreshToken(), await refreshToken()];
  let responses: Promise<Response>[] = [];
  await stall(() => (responses = tokens.map((token) => refresh(token))));
  for (const answer of await Promise.all(responses)) await expectUnavailable(answer);
  for (const token of tokens) {
    expect(await generation(token)).toBe('1');
    await expectServed(token);
  }
});
