import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import pg from 'pg';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { DEVICE_CODE_LIFETIME } from '#oauth/device-authorization.js';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { ClientSecretStore } from '#clients/client-secret.store.js';
import { ClientStore } from '#clients/client.store.js';
import { DatabaseModule } from '#database/database.module.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { ResourceServerStore } from '#clients/resource-server/resource-server.store.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { UserStore } from '#users/user.store.js';
import { grantId, TokenCodec } from '#grants/token-codec.js';
import type { IdTokenRequest, Login } from '#grants/grant.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#keys/key-ring.js';
import { DEFAULT_LIFETIMES, type Lifetimes } from '#grants/lifetimes.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { DEFAULT_SCHEMA } from '#platform/configuration/variables.js';
import { natsOptions } from '#messaging/nats.connection.js';
import type { Isolated } from './isolate.js';
import { PATIENT_MS } from './app-settings.js';

export const REDIRECT_URI = 'https://app.example.com/callback?tenant=7';

export interface TestClient {
  readonly client_id: string;
  readonly client_secret: string;
}

/** Opens the stores and connections with which tests create and inspect data. */
export async function openFixture(
  services: Isolated,
  tokenKeys: string,
  lifetimes: Lifetimes = DEFAULT_LIFETIMES,
) {
  const module = DatabaseModule.forRoot({ databaseUrl: services.databaseUrl, timeoutMs: PATIENT_MS });
  const stores = await NestFactory.createApplicationContext(module, { logger: false });
  const [clients, users, records] = [
    stores.get(ClientStore),
    stores.get(UserStore),
    stores.get(GrantRecordStore),
  ];
  const database = new pg.Pool({
    connectionString: services.databaseUrl,
    max: 1,
    options: `-c search_path=${DEFAULT_SCHEMA}`,
  });
  // The database may be dropped before the pool has closed its connections.
  database.on('error', () => undefined);
  const redis = new Redis(services.redisUrl);
  const nats = await connect(natsOptions(services.natsUrl, 'fixture'));
  const codec = new TokenCodec(KeyRing.parse(tokenKeys));
  const issuer = new TokenIssuer(codec, lifetimes);
  const grants = new GrantStore(redis);

  return {
    store: <Store>(type: Type<Store>): Store => stores.get(type),
    resourceServers: stores.get(ResourceServerStore),
    clients,
    users,
    accounts: stores.get(UserAccountStore),
    registrations: stores.get(ClientRegistrationStore),
    secrets: stores.get(ClientSecretStore),
    records,
    redis,
    redisUrl: services.redisUrl,
    codec,

    async client(): Promise<TestClient> {
      const { secret, hash } = generateClientSecret();
      const registration = {
        name: 'Calendar Connect',
        type: 'confidential',
        scopes: ['profile:read'],
        redirectUris: [REDIRECT_URI],
      } as const;
      const { clientId } = await clients.create({ ...registration, secretHash: hash });
      return { client_id: clientId, client_secret: secret };
    },

    async publicClient(redirectUri: string): Promise<{ readonly client_id: string }> {
      const { clientId } = await clients.create({
        name: 'Pocket Calendar',
        type: 'public',
        scopes: ['profile:read'],
        redirectUris: [redirectUri],
      });
      return { client_id: clientId };
    },

    /** Creates a client with a back-channel log-out URI, and a code for each of the sessions. @returns the client id */
    async sessionClient(
      backchannelLogoutUri: string,
      userId: number,
      ...sessions: readonly string[]
    ): Promise<string> {
      const { clientId } = await clients.create({
        name: 'Room Finder',
        type: 'confidential',
        scopes: ['openid'],
        redirectUris: [REDIRECT_URI],
        postLogoutRedirectUris: [],
        backchannelLogoutUri,
      });
      for (const session of sessions)
        await this.code(clientId, userId, { scope: 'openid', login: { authTime: null, session } });
      return clientId;
    },

    /** @param externalId null for a user with a password */
    async user(externalId: string | null = null): Promise<number> {
      const username = `ada${randomBytes(6).toString('hex')}`;
      const passwordHash = '$argon2id$nobody logs in with this';
      const user = await users.create({
        email: `${username}@example.com`,
        username,
        name: 'Ada Lovelace',
        passwordHash,
      });
      if (externalId !== null)
        await database.query('UPDATE users SET issuer = $1, external_id = $2 WHERE id = $3', [
          'https://product.example.com',
          externalId,
          user.id,
        ]);
      return user.id;
    },

    /** Stores what a user's consent stores: a record, a pending grant and a code. */
    async code(
      clientId: string,
      userId: number,
      pending: {
        redirectUri?: string;
        challenge?: string;
        jkt?: string;
        scope?: string;
        requestedScope?: string;
        resources?: string;
        externalId?: string;
        login?: Login;
        idToken?: IdTokenRequest;
      } = {},
    ): Promise<string> {
      const { code, grantId: id } = issuer.code(Date.now());
      const { scope = 'profile:read', resources = null, externalId = null, login = null, idToken } = pending;
      const grant = { clientId, userId, scope, resources, login };
      const expiresAt = new Date(Date.now() + lifetimes.refreshToken * 1000);
      await records.create({
        id,
        ...grant,
        requestedScope: pending.requestedScope ?? grant.scope,
        expiresAt,
      });
      const { redirectUri = REDIRECT_URI, challenge = null, jkt = null } = pending;
      const pendingGrant = { ...grant, externalId, redirectUri, challenge, jkt, ...(idToken && { idToken }) };
      await grants.create(id, pendingGrant, Date.now(), lifetimes.code);
      return code;
    },

    /** Stores what the user's approval of a device stores. @returns the device code */
    async deviceCode(clientId: string, userId: number): Promise<string> {
      const { code, grantId: id } = issuer.deviceCode(Date.now());
      await grants.request(id, clientId, null, DEVICE_CODE_LIFETIME);
      const grant = { id, clientId, userId, scope: 'profile:read', resources: null };
      const expiresAt = new Date(Date.now() + lifetimes.refreshToken * 1000);
      await records.create({ ...grant, requestedScope: grant.scope, expiresAt });
      await grants.approve(id, { ...grant, externalId: null }, Date.now());
      return code;
    },

    async sql(text: string, values: unknown[] = []): Promise<unknown[]> {
      return (await database.query(text, values)).rows;
    },

    grantIdOf: (token: string): string => grantId(codec.decode(token)?.handle ?? Buffer.alloc(0)),

    /** Sends a Nest request over NATS, with a longer timeout than the introspection library. */
    async ask<T>(subject: string, data: object): Promise<T> {
      const packet = JSON.stringify({ pattern: subject, data, id: '1' });
      return (await nats.request(subject, packet, { timeout: 10_000 })).json<{ response: T }>().response;
    },

    async announce(subject: string, event: object): Promise<void> {
      nats.publish(subject, JSON.stringify(event));
      await nats.flush();
    },

    /**
     * Subscribes to events. A message of the audit trail contains one event per line.
     * @returns a function that unsubscribes
     */
    hear(subject: string, listener: (event: unknown) => void): () => void {
      const subscription = nats.subscribe(subject, {
        callback: (_error, message) => {
          for (const line of message.string().split('\n')) listener(JSON.parse(line));
        },
      });
      return () => subscription.unsubscribe();
    },

    /** Resolves when the subscription is active. `told` resolves after the next broadcast of a revocation. */
    async revocation(): Promise<{ readonly told: Promise<void> }> {
      const subscription = nats.subscribe('oauth.grant.revoked', { max: 1 });
      await nats.flush();
      return {
        told: subscription[Symbol.asyncIterator]()
          .next()
          .then(() => undefined),
      };
    },

    /** Resolves when all published messages have arrived at the server. */
    settled: () => nats.flush(),

    async close(): Promise<void> {
      await stores.close();
      await database.end();
      await nats.close();
      redis.disconnect();
    },
  };
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** Returns an object that a hook fills with `Object.assign`. A read before the hook throws. */
export function started(): object {
  const check = (target: object): void => {
    if (Reflect.ownKeys(target).length === 0)
      throw new Error('the app has not started: read its fields in a test or hook');
  };
  return new Proxy(
    {},
    {
      get(target, key, receiver) {
        check(target);
        return Reflect.get(target, key, receiver) as unknown;
      },
      ownKeys(target) {
        check(target);
        return Reflect.ownKeys(target);
      },
    },
  );
}
