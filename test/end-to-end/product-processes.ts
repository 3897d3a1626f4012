import { randomBytes } from 'node:crypto';
import { freePort } from '#local/servers/free-port.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '../support/id-token-keys.js';
import { isolate } from '../support/isolate.js';
import type { RunFile } from '#local/demo/run-script.js';
import { type AppName, type AppProcess, startApp } from '../support/app-process.js';
import { register } from './running-product.js';

export interface ProductProcesses {
  readonly run: RunFile;
  readonly databaseUrl: string;
  readonly apps: Readonly<Record<AppName, AppProcess>>;
  readonly env: Readonly<Record<string, string>>;
  /** May be called more than once. */
  close(): Promise<void>;
}

export async function startProcesses(env: Readonly<Record<string, string>> = {}): Promise<ProductProcesses> {
  const services = await isolate();
  const [authorizePort, tokenPort, resourcePort] = [await freePort(), await freePort(), await freePort()];
  const urls = {
    AUTH_URL: `http://localhost:${authorizePort}`,
    BASE_URL: `http://localhost:${tokenPort}`,
    API_URL: `http://localhost:${resourcePort}`,
  };
  const run = await register(services.databaseUrl, urls, 'http://localhost:1/callback');
  const shared = {
    ...urls,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    TOKEN_KEYS: randomBytes(32).toString('base64url'),
    ...env,
  };
  const [authorize, token, resource] = await Promise.all([
    startApp('authorize', { ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS, ...shared }, { port: authorizePort }),
    startApp('token', { ID_TOKEN_KEYS, ...shared }, { port: tokenPort }),
    startApp('resource', shared, { port: resourcePort }),
  ]);
  const apps = { authorize, token, resource };
  const all = Object.values(apps);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await Promise.all(all.map((app) => app.stop()));
    await services.close();
  };
  return {
    run,
    databaseUrl: services.databaseUrl,
    apps,
    env: shared,
    close: () => (closed ??= close()),
  };
}
