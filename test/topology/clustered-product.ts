import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { ClientStore } from '#clients/client.store.js';
import { DatabaseModule } from '#database/database.module.js';
import { migrate } from '#database/migrate.js';
import { hashPassword } from '#users/password.js';
import { UserStore } from '#users/user.store.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '../support/keys.js';
import { freePort } from '#local/servers/free-port.js';
import type { Installation, User } from './retrying-client.js';

/**
 * Number of users, large enough that no user gets 100 grants in 24 hours, after which the consent page is shown
 * again.
 */
const USERS = 10;

export interface BackingUrls {
  readonly DATABASE_URL: string;
  readonly REDIS_URL: string;
  readonly NATS_URL: string;
}

export interface ClusteredProduct extends Installation {
  readonly apps: readonly AppProcess[];
  readonly keys: string;
  stop(): Promise<void>;
}

/** @param resources number of replicas of the resource app; tests of NATS failures need two */
export async function startClusteredProduct(urls: BackingUrls, resources: 1 | 2): Promise<ClusteredProduct> {
  await migrate(urls.DATABASE_URL);
  const { client, users } = await register(urls.DATABASE_URL);
  const [authorize, token, resource] = [await freePort(), await freePort(), await freePort()];
  const origin = (port: number) => `http://localhost:${port}`;
  const shared = {
    LOG_LEVEL: 'fatal',
    // The maximum, so that codes do not expire on a slow machine.
    CODE_LIFETIME: '600',
    RETRY_WINDOW: '3600',
    AUTH_URL: origin(authorize),
    BASE_URL: origin(token),
    API_URL: origin(resource),
    NATS_URL: urls.NATS_URL,
    DEPENDENCY_TIMEOUT: '2',
  };
  const keys = randomBytes(32).toString('base64url');
  const stateful = { ...shared, ...urls, TOKEN_KEYS: keys };
  const tokenEnv = { ...stateful, ID_TOKEN_KEYS };
  const started = await Promise.allSettled([
    startApp('authorize', { ...stateful, ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS }, { port: authorize }),
    startApp('token', tokenEnv, { port: token }),
    startApp('token', tokenEnv),
    startApp('resource', shared, { port: resource }),
    ...(resources === 2 ? [startApp('resource', shared)] : []),
  ]);
  const apps = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async () => void (await Promise.all(apps.map((app) => app.stop())));
  const failure = started.find((result) => result.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const [, , otherToken, , otherResource] = apps;
  return {
    authorizeUrl: origin(authorize),
    tokenUrls: [origin(token), otherToken?.url ?? ''],
    resourceUrls: [origin(resource), ...(otherResource ? [otherResource.url] : [])],
    client,
    users,
    apps,
    keys,
    stop,
  };
}

async function register(databaseUrl: string): Promise<Pick<Installation, 'client' | 'users'>> {
  const database = await NestFactory.createApplicationContext(DatabaseModule.forRoot({ databaseUrl }), {
    logger: false,
  });
  const { secret, hash } = generateClientSecret();
  const redirectUri = 'https://app.example.com/callback';
  const { clientId } = await database.get(ClientStore).create({
    name: 'Calendar Connect',
    type: 'confidential',
    scopes: ['profile:read'],
    redirectUris: [redirectUri],
    secretHash: hash,
  });
  const password = randomBytes(12).toString('hex');
  const passwordHash = await hashPassword(password);
  const users: User[] = [];
  for (let number = 1; number <= USERS; number++) {
    const [email, username] = [`ada-${number}@example.com`, `ada-${number}`];
    await database.get(UserStore).create({ email, username, name: 'Ada Lovelace', passwordHash });
    users.push({ email, password });
  }
  await database.close();
  return { client: { client_id: clientId, client_secret: secret, redirect_uri: redirectUri }, users };
}
