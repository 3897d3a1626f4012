import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { freePort } from '#local/servers/free-port.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS, SIGNING_KEYS } from '#test/support/id-token-keys.js';
import type { Isolated } from '#test/support/isolate.js';
import { type AppName, launchApp } from '#test/support/app-process.js';
import { startLogoutReceiver } from '../logout-receiver.js';
import { KnownLogins } from './known-logins.js';
import type { KnownSecrets } from './leaks.js';

export const APPS = ['authorize', 'token', 'resource'] as const satisfies readonly AppName[];

/** Bytes, after a forced collection. */
interface Memory {
  readonly rss: number;
  /** Used heap and external memory (buffers). */
  readonly live: number;
}

export type MemoryOfApps = Readonly<Record<AppName, Memory>>;

/** Receives the output and exits of the processes. */
export interface Watcher {
  line(app: AppName, line: string): void;
  ended(app: AppName, how: string): void;
  /** @param problem null for a valid logout token */
  logout(problem: string | null): void;
}

/** A deployment behind one proxy, with all its secrets known. */
export interface TestEnvironment {
  readonly fixture: Fixture;
  readonly natsUrl: string;
  readonly secrets: KnownSecrets;
  /** The redirect URIs of each client, by its id. */
  readonly redirectUris: Map<string, readonly string[]>;
  readonly logins: KnownLogins;
  /** Address for the log-outs of applications, without a path. */
  readonly logoutUrl: string;
  readonly urls: Readonly<Record<AppName, string>>;
  port(app: AppName, internal: boolean): number;
  memory(): Promise<MemoryOfApps>;
  close(): Promise<void>;
}

/** Starts one process of each app from dist (`npm run build`), each with a memory probe. */
export async function startTestEnvironment(
  services: Isolated,
  secrets: KnownSecrets,
  watcher: Watcher,
): Promise<TestEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-'));
  const tokenKeys = randomBytes(32).toString('base64url');
  for (const url of [services.databaseUrl, services.redisUrl, services.natsUrl])
    secrets.add('setting', new URL(url).password);
  secrets.add('setting', tokenKeys);
  const ports = { authorize: await freePort(), token: await freePort(), resource: await freePort() };
  const urls = {
    authorize: `http://localhost:${ports.authorize}`,
    token: `http://localhost:${ports.token}`,
    resource: `http://localhost:${ports.resource}`,
  };
  const receiver = await startLogoutReceiver();
  receiver.issuer = urls.token;
  receiver.onToken = () => watcher.logout(null);
  receiver.onInvalid = (problem) => watcher.logout(problem);
  const probeOf = (app: AppName) => join(folder, `${app}.probe`);
  const keys = { authorize: PUBLIC_ID_TOKEN_KEYS, token: ID_TOKEN_KEYS };
  for (const { d = '' } of SIGNING_KEYS.privateJwks.keys) secrets.add('setting', d);
  let closing = false;
  const start = async (name: AppName) => {
    const app = await launchApp(
      name,
      {
        AUTH_URL: urls.authorize,
        BASE_URL: urls.token,
        API_URL: urls.resource,
        DATABASE_URL: services.databaseUrl,
        REDIS_URL: services.redisUrl,
        NATS_URL: services.natsUrl,
        TOKEN_KEYS: tokenKeys,
        ...(name !== 'resource' && { ID_TOKEN_KEYS: keys[name] }),
        ...(name === 'token' && { OUTSIDE_FETCH_ALLOW: '127.0.0.1', CONSOLE_URL: 'http://localhost:1' }),
        // Login attempts are counted per forwarded client address, like behind an ingress.
        TRUSTED_PROXIES: '127.0.0.1',
        NODE_OPTIONS: `--import=${pathToFileURL(join(process.cwd(), 'dist/qa/fuzz/probe.js')).href}`,
        FUZZ_PROBE: probeOf(name),
      },
      {
        port: ports[name],
        logFile: join(folder, `${name}.log`),
        onOutput: splitLines((line) => watcher.line(name, line)),
      },
    );
    void app.process.ended.then((how) => closing || watcher.ended(name, how));
    return app;
  };
  const [authorize, token, resource] = await Promise.all([
    start('authorize'),
    start('token'),
    start('resource'),
  ]);
  const apps = { authorize, token, resource };
  const fixture = await openFixture(services, tokenKeys);
  const close = async () => {
    closing = true;
    await Promise.all(APPS.map((name) => apps[name].stop()));
    receiver.close();
    await fixture.close();
    await services.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(APPS.map((name) => apps[name].ready()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    fixture,
    natsUrl: services.natsUrl,
    secrets,
    redirectUris: new Map(),
    logins: new KnownLogins(),
    logoutUrl: receiver.url,
    urls,
    port: (app, internal) => (internal ? Number(new URL(apps[app].internalUrl).port) : ports[app]),
    memory: async () => ({
      authorize: await memoryOf(probeOf('authorize')),
      token: await memoryOf(probeOf('token')),
      resource: await memoryOf(probeOf('resource')),
    }),
    close,
  };
}

async function memoryOf(probe: string): Promise<Memory> {
  const { rss, heapUsed, external } = JSON.parse(await text(connect(probe))) as NodeJS.MemoryUsage;
  return { rss, live: heapUsed + external };
}

/** Splits a stream of text into lines. */
function splitLines(take: (line: string) => void): (text: string) => void {
  let rest = '';
  return (piece) => {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  };
}
