import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import request, { type Response } from 'supertest';
import { NatsConnection } from '#messaging/nats.connection.js';
import { createService } from '#platform/bootstrap/service.js';
import { startAppInProcess } from '#test/support/app-in-process.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings, PATIENT } from '#test/support/app-settings.js';
import { openFixture, REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { checkingAnswers } from '#test/support/openapi/answer-checker.js';
import { isolate } from '#test/support/isolate.js';
import { APIS } from '#test/support/resources.js';
import type { Pair } from '#test/support/tokens.js';
import { DpopKey } from '#test/support/keys.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { ResourceConfiguration } from '../../src/resource.configuration.js';
import { resourceApp } from '../../src/app.module.js';

export async function startResourceApp(tokenSettings: Readonly<Record<string, string>> = {}) {
  const services = await isolate();
  const keys = randomBytes(32).toString('base64url');
  const shared = appSettings(services);
  const startToken = () =>
    startAppInProcess('token', { ...shared, ...APIS, TOKEN_KEYS: keys, ...tokenSettings });
  let token = await startToken();
  const settings = {
    BASE_URL: shared.BASE_URL,
    API_URL: APIS.API_URL,
    NATS_URL: services.natsUrl,
    LOG_LEVEL: 'silent',
    ...PATIENT,
  };
  const configuration = Object.assign(new ResourceConfiguration(), settings);
  const service = checkingAnswers(resourceApp(configuration));
  const app = await createService(service);
  await app.listen(0, '127.0.0.1');
  const others: AppProcess[] = [];
  const fixture = await openFixture(services, keys);
  const post = (path: string, body: object) => request(token.url).post(`/api/auth/oauth/${path}`).send(body);

  return {
    ...fixture,
    server: app.getHttpServer(),
    url: await app.getUrl(),

    /** Starts another API in a separate process, because passport's strategies are global. @returns its URL */
    async anotherApi(API_URL: string): Promise<string> {
      const { BASE_URL, NATS_URL } = shared;
      const other = await startApp('resource', { BASE_URL, NATS_URL, API_URL });
      others.push(other);
      return other.url;
    },

    /** @param resources granted APIs; undefined for every API */
    async pair(
      client: TestClient,
      userId: number,
      scope = 'profile:read',
      resources?: string,
    ): Promise<Pair & { readonly code: string }> {
      const code = await fixture.code(client.client_id, userId, { scope, ...(resources && { resources }) });
      const answer = await post('token', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        ...client,
      });
      return { ...(answer.body as Pair), code };
    },

    /** Redeems a code again, which revokes its grant, and waits for the broadcast. */
    async replay(client: TestClient, code: string): Promise<void> {
      const { told } = await fixture.revocation();
      await post('token', { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client });
      await told;
    },

    /** Resolves when all published messages have arrived at the app and at the fixture. */
    async settled(): Promise<void> {
      await fixture.settled();
      await app.get(NatsConnection).ping();
      await fixture.settled();
    },

    async narrowed(client: TestClient, refreshToken: string, scope: string): Promise<Pair> {
      const body = { grant_type: 'refresh_token', refresh_token: refreshToken, scope, ...client };
      return (await post('token', body)).body as Pair;
    },

    async narrowedTo(client: TestClient, refreshToken: string, resource: string): Promise<Pair> {
      const body = { grant_type: 'refresh_token', refresh_token: refreshToken, resource, ...client };
      return (await post('token', body)).body as Pair;
    },

    tokenUrl: () => token.url,
    stopTokenApp: () => token.stop(),
    async startTokenApp(): Promise<void> {
      token = await startToken();
    },

    async close(): Promise<void> {
      await Promise.all([app.close(), ...others.map((other) => other.stop())]);
      await token.stop();
      await fixture.close();
      await services.close();
      service.report.throwProblems();
    },
  };
}

export type ResourceApp = Awaited<ReturnType<typeof startResourceApp>>;

const BASE_URL = 'https://base.example.com';
export const API_URL = 'https://api.example.com';
export const ME = `${API_URL}/v2/me`;
const TOKEN_PATH = '/api/auth/oauth/token';

export async function startDpopApps(nonces: 'required' | 'optional') {
  const services = await isolate();
  const redis = await FaultProxy.start(services.redisUrl);
  const keys = randomBytes(32).toString('base64url');
  const token = await startAppInProcess('token', {
    ...appSettings(services),
    REDIS_URL: redis.url,
    TOKEN_KEYS: keys,
    DPOP_NONCE: nonces,
  });
  const resource = async () => {
    const settings = { BASE_URL, API_URL, NATS_URL: services.natsUrl, LOG_LEVEL: 'silent', ...PATIENT };
    const configuration = Object.assign(new ResourceConfiguration(), settings);
    const app = await createService(resourceApp(configuration));
    await app.listen(0, '127.0.0.1');
    return app;
  };
  const replicas = [await resource(), await resource()] as const;
  const fixture = await openFixture(services, keys);
  const [client, userId, key] = [await fixture.client(), await fixture.user(), await DpopKey.generate()];

  return {
    ...fixture,
    key,
    servers: [replicas[0].getHttpServer(), replicas[1].getHttpServer()] as const,
    redisProxy: redis,

    /** Resolves when all published messages have arrived at both replicas and at the fixture. */
    async settled(): Promise<void> {
      await fixture.settled();
      await Promise.all(replicas.map((app) => app.get(NatsConnection).ping()));
      await fixture.settled();
    },

    async accessToken(isBound = true): Promise<string> {
      const code = await fixture.code(client.client_id, userId);
      const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client };
      const redeem = async (nonce: string | null): Promise<Response> => {
        const proof = await key.proof('POST', BASE_URL + TOKEN_PATH, { claims: { nonce } });
        return request(token.url)
          .post(TOKEN_PATH)
          .set(isBound ? { DPoP: proof } : {})
          .send(body);
      };
      const first = await redeem(null);
      const answer =
        first.body.error === 'use_dpop_nonce' ? await redeem(first.headers['dpop-nonce'] ?? '') : first;
      return (answer.body as { access_token: string }).access_token;
    },

    async close(): Promise<void> {
      for (const app of replicas) await app.close();
      await token.stop();
      await fixture.close();
      await redis.close();
      await services.close();
    },
  };
}

export type DpopApps = Awaited<ReturnType<typeof startDpopApps>>;

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
