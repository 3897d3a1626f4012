import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { appSettings } from '#test/support/app-settings.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { openFixture, REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import type { Pair } from '#test/support/tokens.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Starts a token app and several replicas of the resource app, each in a separate process as deployed. */
export async function startReplicas(count: number, natsUrl?: string) {
  const services = await isolate();
  const nats = natsUrl ?? services.natsUrl;
  const keys = randomBytes(32).toString('base64url');
  const settings = appSettings({ ...services, natsUrl: nats });
  const shared = { ...settings, API_URL: 'https://api.example.com', LOG_LEVEL: 'fatal' };
  const [tokenApp, ...replicas] = await Promise.all([
    startApp('token', { ...shared, TOKEN_KEYS: keys }),
    ...Array.from({ length: count }, () => startApp('resource', shared)),
  ]);
  const fixture = await openFixture({ ...services, natsUrl: nats }, keys);
  const agent = new Agent({ keepAlive: true });
  const client: TestClient = await fixture.client();
  const userId = await fixture.user();
  const post = (path: string, body: object) =>
    send(agent, `${tokenApp?.url}/api/auth/oauth/${path}`, JSON.stringify({ ...body, ...client }));

  return {
    ...fixture,
    replicas,

    async pair(): Promise<Pair> {
      const code = await fixture.code(client.client_id, userId);
      const answer = await post('token', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
      });
      return answer.body as unknown as Pair;
    },

    revoke: (token: string): Promise<Answer> => post('revoke', { token }),

    me: (replica: AppProcess, accessToken: string): Promise<Answer> =>
      send(agent, `${replica.url}/v2/me`, undefined, { authorization: `Bearer ${accessToken}` }),

    async close(): Promise<void> {
      agent.destroy();
      await Promise.all([tokenApp, ...replicas].map((app) => app?.stop()));
      await fixture.close();
      await services.close();
    },
  };
}

export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

// Uses node:http with kept-alive connections, so that the measurements exclude the overhead of an HTTP library.
function send(
  agent: Agent,
  url: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { agent, method, headers: { ...headers, ...type } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () => {
        const parsed = text === '' ? {} : (JSON.parse(text) as Answer['body']);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
