import { randomBytes } from 'node:crypto';
import request, { type Response } from 'supertest';
import { NatsConnection } from '#messaging/nats.connection.js';
import { createService } from '#platform/bootstrap/service.js';
import { startApp } from '#test/support/app-process.js';
import { DpopKey } from '#test/support/dpop-key.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { openFixture, REDIRECT_URI } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import { PATIENT } from '#test/support/app-settings.js';
import { resourceApp } from '../../src/app.module.js';
import { ResourceConfiguration } from '../../src/resource.configuration.js';

const BASE_URL = 'https://base.example.com';
export const API_URL = 'https://api.example.com';
export const ME = `${API_URL}/v2/me`;
const TOKEN_PATH = '/api/auth/oauth/token';

export async function startDpopApps(nonces: 'required' | 'optional') {
  const services = await isolate();
  const redis = await FaultProxy.start(services.redisUrl);
  const keys = randomBytes(32).toString('base64url');
  const token = await startApp('token', {
    AUTH_URL: 'https://auth.example.com',
    BASE_URL,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: redis.url,
    NATS_URL: services.natsUrl,
    TOKEN_KEYS: keys,
    LOG_LEVEL: 'warn',
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
