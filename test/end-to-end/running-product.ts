import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { ClientStore } from '#clients/client.store.js';
import { DatabaseModule } from '#database/database.module.js';
import { ResourceServerStore } from '#clients/resource-server/resource-server.store.js';
import { hashPassword } from '#users/password.js';
import { UserStore } from '#users/user.store.js';
import { createService, type Service } from '#platform/bootstrap/service.js';
import { freePort } from '#local/servers/free-port.js';
import { createDemoApp } from '#local/demo-app/demo-app.js';
import { DemoConfiguration } from '#local/demo-app/demo.configuration.js';
import type { RunFile } from '#local/demo/run-script.js';
import { OAuthClient, type OAuthRequest, sendTo } from '#local/demo/oauth-client.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '../support/keys.js';
import { isolate } from '../support/isolate.js';
import { PATIENT, PATIENT_MS } from '../support/app-settings.js';
import { authorizeApp } from '../../apps/authorize/src/app.module.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/configuration/authorize.configuration.js';
import { ResourceConfiguration } from '../../apps/resource/src/resource.configuration.js';
import { resourceApp } from '../../apps/resource/src/app.module.js';
import { tokenApp } from '../../apps/token/src/app.module.js';
import { TokenConfiguration } from '../../apps/token/src/token.configuration.js';
import { Browser } from '../support/browser.js';

/** The authorize, token and resource apps and the demo application, all in this process. */
export interface RunningProduct {
  run: RunFile;
  demoUrl: string;
  databaseUrl: string;
  natsUrl: string;
  redisUrl: string;
  stop(app: 'authorize' | 'token' | 'resource'): Promise<void>;
  close(): Promise<void>;
}

/** @param settings variables of the token app; the authorize app also gets `OTHER_API_URLS` */
export async function startProduct(
  settings: Partial<TokenConfiguration> = {},
  authorizeSettings: Partial<AuthorizeConfiguration> = {},
): Promise<RunningProduct> {
  const { OTHER_API_URLS = '' } = settings;
  const services = await isolate();
  const [authorizePort, tokenPort, resourcePort, demoPort] = await Promise.all(
    Array.from({ length: 4 }, freePort),
  );
  const demoUrl = `http://localhost:${demoPort}`;
  const shared = {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    AUTH_URL: `http://localhost:${authorizePort}`,
    BASE_URL: `http://localhost:${tokenPort}`,
    API_URL: `http://localhost:${resourcePort}`,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    TOKEN_KEYS: randomBytes(32).toString('base64url'),
    ...PATIENT,
  };
  const run = await register(services.databaseUrl, shared, `${demoUrl}/callback`);
  const authorize = Object.assign(
    new AuthorizeConfiguration(),
    shared,
    { ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS },
    authorizeSettings,
    { OTHER_API_URLS, PORT: authorizePort },
  );
  const token = Object.assign(new TokenConfiguration(), shared, { ID_TOKEN_KEYS }, settings, {
    PORT: tokenPort,
  });
  const resource = Object.assign(new ResourceConfiguration(), shared, { PORT: resourcePort });
  const apps = {
    token: await listen(tokenApp(token)),
    authorize: await listen(authorizeApp(authorize)),
    resource: await listen(resourceApp(resource)),
  };
  const demo = await createDemoApp(
    Object.assign(new DemoConfiguration(), shared, {
      PORT: demoPort,
      CLIENT_ID: run.client.client_id,
      CLIENT_SECRET: run.client.client_secret,
      REDIRECT_URI: run.client.redirect_uri,
    }),
  );
  await demo.listen({ host: '127.0.0.1', port: Number(demoPort) });
  const stopped = new Set<string>();
  const stop = async (name: keyof typeof apps): Promise<void> => {
    if (stopped.has(name)) return;
    stopped.add(name);
    await apps[name].close();
  };
  return {
    run,
    demoUrl,
    databaseUrl: services.databaseUrl,
    natsUrl: services.natsUrl,
    redisUrl: services.redisUrl,
    stop,
    async close() {
      await demo.close();
      await stop('authorize');
      await stop('resource');
      await stop('token');
      await services.close();
    },
  };
}

async function listen(service: Service): Promise<NestFastifyApplication> {
  const app = await createService(service);
  await app.startAllMicroservices();
  await app.listen(service.configuration.PORT, service.configuration.HOST);
  return app;
}

export async function withStores<Result>(
  databaseUrl: string,
  work: (stores: INestApplicationContext) => Promise<Result>,
): Promise<Result> {
  const module = DatabaseModule.forRoot({ databaseUrl, timeoutMs: PATIENT_MS });
  const stores = await NestFactory.createApplicationContext(module, { logger: false });
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

export async function createResourceServer(
  stores: INestApplicationContext,
  name: string,
): Promise<{ id: string; secret: string }> {
  const { secret, hash } = generateClientSecret();
  const { id } = await stores.get(ResourceServerStore).create(name, hash);
  return { id, secret };
}

export async function register(
  databaseUrl: string,
  urls: { AUTH_URL: string; BASE_URL: string; API_URL: string },
  redirectUri: string,
): Promise<RunFile> {
  const { secret, hash } = generateClientSecret();
  const password = randomBytes(18).toString('base64url');
  const email = 'ada@example.com';
  const client = await withStores(databaseUrl, async (stores) => {
    await stores.get(UserStore).create({
      email,
      username: 'ada',
      name: 'Ada <b>Lovelace</b>',
      timeZone: 'Europe/London',
      passwordHash: await hashPassword(password),
    });
    return stores.get(ClientStore).create({
      name: 'Calendar Connect',
      type: 'confidential',
      scopes: ['profile:read'],
      redirectUris: [redirectUri],
      secretHash: hash,
    });
  });
  return {
    auth_url: urls.AUTH_URL,
    base_url: urls.BASE_URL,
    api_url: urls.API_URL,
    client: { client_id: client.clientId, client_secret: secret, redirect_uri: redirectUri },
    user: { email, password },
  };
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export const allow = ({ user }: Pick<RunFile, 'user'>, url: string | URL, without?: readonly string[]) =>
  new Browser('').allow(url, user, without);

export class ProductUser {
  readonly seen = new Set<string>();
  private readonly client: OAuthClient<Promise<Answer>>;

  constructor(private readonly run: RunFile) {
    const { client, user } = run;
    this.client = new OAuthClient(client, client.redirect_uri, (request) => this.send(request));
    this.saw(client.client_id, client.client_secret, client.redirect_uri, user.email, user.password);
  }

  async code(): Promise<string> {
    const url = this.client.authorizationUrl(this.run.auth_url, { scope: 'profile:read' });
    const callback = await allow(this.run, url);
    const code = callback.searchParams.get('code') ?? '';
    this.saw(url.searchParams.get('state') ?? '', code);
    return code;
  }

  redeem(code: string): Promise<Answer> {
    return this.client.redeem(code);
  }

  refresh(refreshToken: unknown): Promise<Answer> {
    return this.client.refresh(String(refreshToken));
  }

  revoke(token: unknown): Promise<Answer> {
    return this.client.revoke(String(token));
  }

  async me(token: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const authorization = typeof token === 'string' ? { Authorization: `Bearer ${token}` } : {};
    // The query contains a random code, which must not appear in traces or logs.
    const path = `/v2/me?code=${randomBytes(16).toString('hex')}`;
    return this.send({ app: 'resource', path, headers: { ...headers, ...authorization } });
  }

  private async send(request: OAuthRequest): Promise<Answer> {
    const { base_url, api_url } = this.run;
    const answer = await sendTo(request.app === 'token' ? base_url : api_url, request);
    const text = await answer.text();
    const body = (text === '' ? {} : JSON.parse(text)) as Answer['body'];
    for (const name of ['access_token', 'refresh_token', 'error_reference'])
      if (typeof body[name] === 'string') this.saw(body[name]);
    return { status: answer.status, body };
  }

  private saw(...values: string[]): void {
    for (const value of values) if (value !== '') this.seen.add(value);
  }
}
