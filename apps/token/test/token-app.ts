import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { natsOptions } from '#introspection/nats-options.js';
import { TokenServiceConnection } from '#introspection/token-service.connection.js';
import { generateClientSecret } from '#directory/client-secret.js';
import { ClientStore } from '#directory/client.store.js';
import { DirectoryModule } from '#directory/directory.module.js';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { UserStore } from '#directory/user.store.js';
import { grantId } from '#grants/grant-id.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#grants/key-ring.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { createService } from '#service/http/service.js';
import { isolate } from '#testing/isolate.js';
import { answerOverNats } from '../src/answer-over-nats.js';
import { lifetimesOf, TokenConfiguration } from '../src/token.configuration.js';
import { TokenModule } from '../src/token.module.js';

export const REDIRECT_URI = 'https://app.example.com/callback?tenant=7';

export interface TestClient {
  readonly client_id: string;
  readonly client_secret: string;
}

/** A token app on services of its own, and what an operator and the authorize app would have put into them. */
export async function startTokenApp(settings: Partial<TokenConfiguration> = {}) {
  const services = await isolate();
  const configuration = Object.assign(new TokenConfiguration(), {
    BASE_URL: 'https://base.example.com',
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    TOKEN_KEYS: randomBytes(32).toString('base64url'),
    LOG_LEVEL: 'silent',
    ...settings,
  });
  const app: NestFastifyApplication = await createService(
    TokenModule.forRoot(configuration),
    configuration,
    answerOverNats(configuration.NATS_URL),
  );
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  const directory = await NestFactory.createApplicationContext(
    DirectoryModule.forRoot({ databaseUrl: services.databaseUrl }),
    { logger: false },
  );
  const redis = new Redis(services.redisUrl);
  const codec = new TokenCodec(KeyRing.parse(configuration.TOKEN_KEYS));
  const issuer = new TokenIssuer(codec, lifetimesOf(configuration));
  const grants = new GrantStore(redis);
  const nats = await connect(natsOptions(services.natsUrl, 'test'));

  return {
    app,
    services,
    configuration,
    codec,
    redis,
    clients: directory.get(ClientStore),
    records: directory.get(GrantRecordStore),
    server: app.getHttpServer(),
    url: await app.getUrl(),

    async client(): Promise<TestClient> {
      const { secret, hash } = generateClientSecret();
      const client = await directory.get(ClientStore).create({
        name: 'Calendar Connect',
        type: 'confidential',
        redirectUris: [REDIRECT_URI],
        secretHash: hash,
      });
      return { client_id: client.clientId, client_secret: secret };
    },

    async publicClient(): Promise<{ readonly client_id: string }> {
      const client = await directory
        .get(ClientStore)
        .create({ name: 'Pocket Calendar', type: 'public', redirectUris: ['com.example.pocket:/callback'] });
      return { client_id: client.clientId };
    },

    async user(): Promise<number> {
      const name = `ada${randomBytes(6).toString('hex')}`;
      const user = await directory.get(UserStore).create({
        email: `${name}@example.com`,
        username: name,
        name: 'Ada Lovelace',
        passwordHash: '$argon2id$nobody logs in here',
      });
      return user.id;
    },

    /** The id under which the stores know a token's grant. */
    grantIdOf: (token: string): string => grantId(codec.decode(token)?.handle ?? Buffer.alloc(0)),

    /** A Nest request over NATS, as the introspection library sends it. */
    async ask<T>(subject: string, data: object): Promise<T> {
      const reply = await nats.request(subject, JSON.stringify({ pattern: subject, data, id: '1' }), {
        timeout: 2000,
      });
      return reply.json<{ response: T }>().response;
    },

    /** Broadcasts an event and waits until the app has heard it. */
    async announce(subject: string, event: object): Promise<void> {
      nats.publish(subject, JSON.stringify(event));
      await this.settled();
    },

    hear(subject: string, listener: (event: unknown) => void): () => void {
      const subscription = nats.subscribe(subject, {
        callback: (_error, message) => listener(message.json()),
      });
      return () => subscription.unsubscribe();
    },

    /** Resolves when everything published so far has arrived everywhere. */
    async settled(): Promise<void> {
      await nats.flush();
      await app.get(TokenServiceConnection).ping();
      await nats.flush();
    },

    /** What Allow does: a durable record, a pending grant, a code. */
    async code(
      clientId: string,
      userId: number,
      pending: { redirectUri?: string; challenge?: string } = {},
    ): Promise<string> {
      const { code, grantId } = issuer.code(Date.now());
      const { code: codeLifetime, refreshToken } = lifetimesOf(configuration);
      const grant = { clientId, userId, scope: 'profile:read' };
      await directory
        .get(GrantRecordStore)
        .create({ id: grantId, ...grant, expiresAt: new Date(Date.now() + refreshToken * 1000) });
      await grants.create(
        grantId,
        { ...grant, redirectUri: pending.redirectUri ?? REDIRECT_URI, challenge: pending.challenge ?? null },
        Date.now(),
        codeLifetime,
      );
      return code;
    },

    async close(): Promise<void> {
      await app.close();
      await directory.close();
      redis.disconnect();
      await nats.close();
      await services.close();
    },
  };
}

export type TokenApp = Awaited<ReturnType<typeof startTokenApp>>;
