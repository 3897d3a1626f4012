import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { NatsConnection } from '#messaging/nats.connection.js';
import { createService } from '#platform/bootstrap/service.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings, PATIENT } from '#test/support/app-settings.js';
import { openFixture, REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { checkingAnswers } from '#test/support/openapi/check-answers.js';
import { isolate } from '#test/support/isolate.js';
import { APIS } from '#test/support/resources.js';
import { ResourceConfiguration } from '../../src/resource.configuration.js';
import { resourceApp } from '../../src/app.module.js';
import type { Pair } from '#test/support/tokens.js';

export async function startResourceApp(tokenSettings: Readonly<Record<string, string>> = {}) {
  const services = await isolate();
  const keys = randomBytes(32).toString('base64url');
  const shared = appSettings(services);
  const startToken = () =>
    startApp('token', { ...shared, ...APIS, TOKEN_KEYS: keys, LOG_LEVEL: 'warn', ...tokenSettings });
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
