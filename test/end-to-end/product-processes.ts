import { randomBytes } from 'node:crypto';
import { freePort } from '#local/servers/free-port.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '../support/id-token-keys.js';
import { isolate } from '../support/isolate.js';
import { until } from '../support/until.js';
import type { RunFile } from '#local/demo/run-script.js';
import { type AppName, launchApp, type LaunchedApp } from './app-processes.js';
import { register } from './running-product.js';

export interface ProductProcesses {
  readonly run: RunFile;
  readonly databaseUrl: string;
  readonly apps: Readonly<Record<AppName, LaunchedApp>>;
  /** The environment of every app. */
  readonly env: Readonly<Record<string, string>>;
  /** May be called again. */
  close(): Promise<void>;
}

/** Starts each of the three apps as a process. @param env additional environment of every app */
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
    launchApp('authorize', authorizePort, { ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS, ...shared }),
    launchApp('token', tokenPort, { ID_TOKEN_KEYS, ...shared }),
    launchApp('resource', resourcePort, shared),
  ]);
  const apps = { authorize, token, resource };
  const all = Object.values(apps);
  await until('every app is ready', 60_000, async () =>
    (await Promise.all(all.map((app) => app.missing()))).every((missing) => missing?.length === 0),
  );
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
