import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { freePort } from '#local/servers/free-port.js';
import { generateClientId, generateClientSecret } from '#oauth/oauth-client.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS, SIGNING_KEYS } from '#test/support/keys.js';
import type { Isolated } from '#test/support/isolate.js';
import { launchApp } from '#test/support/app-process.js';
import { startDocumentHost } from '#test/support/document-host.js';
import { startLogoutReceiver } from '../logout-receiver.js';
import { KnownLogins } from './known-logins.js';
import type { PortalClient } from '../portal-login.js';
import type { KnownSecrets } from './leaks.js';

export const APPS = ['authorize', 'token', 'resource', 'console', 'developers'] as const;
export type FuzzedApp = (typeof APPS)[number];

interface Memory {
  readonly rss: number;
  /** Used heap and buffers, in bytes. */
  readonly live: number;
}

export type MemoryOfApps = Readonly<Record<FuzzedApp, Memory>>;

export interface Watcher {
  line(app: FuzzedApp, line: string): void;
  ended(app: FuzzedApp, how: string): void;
  /** @param problem null for a valid logout token */
  logout(problem: string | null): void;
}

export interface TestEnvironment {
  readonly fixture: Fixture;
  readonly natsUrl: string;
  readonly secrets: KnownSecrets;
  readonly redirectUris: Map<string, readonly string[]>;
  readonly logins: KnownLogins;
  readonly logoutUrl: string;
  readonly portal: PortalClient;
  readonly documents: Awaited<ReturnType<typeof startDocumentHost>>;
  readonly urls: Readonly<Record<FuzzedApp, string>>;
  port(app: FuzzedApp, internal: boolean): number;
  memory(): Promise<MemoryOfApps>;
  close(): Promise<void>;
}

/** Starts one process per app from dist (`npm run build`), with a memory probe in each. */
export async function startTestEnvironment(
  services: Isolated,
  secrets: KnownSecrets,
  watcher: Watcher,
): Promise<TestEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-'));
  const tokenKeys = randomBytes(32).toString('base64url');
  for (const url of [services.databaseUrl, services.redisUrl, services.natsUrl])
    secrets.add('setting', new URL(url).password);
  const consoleSecret = randomBytes(32).toString('base64url');
  const portalSecret = generateClientSecret();
  const portal = { id: generateClientId(), secret: portalSecret.secret, url: '' };
  for (const setting of [tokenKeys, consoleSecret, portal.secret]) secrets.add('setting', setting);
  const ports = await forEachApp(() => freePort());
  const urls = await forEachApp((app) => `http://localhost:${ports[app]}`);
  const receiver = await startLogoutReceiver();
  const documents = await startDocumentHost();
  receiver.issuer = urls.token;
  receiver.onToken = () => watcher.logout(null);
  receiver.onInvalid = (problem) => watcher.logout(problem);
  const probeOf = (app: FuzzedApp) => join(folder, `${app}.probe`);
  const own: Readonly<Record<FuzzedApp, Readonly<Record<string, string>>>> = {
    authorize: { TOKEN_KEYS: tokenKeys, ID_TOKEN_KEYS: PUBLIC_ID_TOKEN_KEYS },
    token: {
      TOKEN_KEYS: tokenKeys,
      ID_TOKEN_KEYS,
      CONSOLE_URL: urls.console,
    },
    resource: {},
    console: {
      CONSOLE_URL: urls.console,
      CONSOLE_ISSUER: urls.token,
      CONSOLE_CLIENT_ID: 'console',
      CONSOLE_CLIENT_SECRET: consoleSecret,
    },
    developers: {
      DEVELOPERS_URL: urls.developers,
      DEVELOPERS_CLIENT_ID: portal.id,
      DEVELOPERS_CLIENT_SECRET: portal.secret,
      CONSOLE_URL: urls.console,
    },
  };
  for (const { d = '' } of SIGNING_KEYS.privateJwks.keys) secrets.add('setting', d);
  let closing = false;
  const start = async (name: FuzzedApp) => {
    const app = await launchApp(
      name,
      {
        AUTH_URL: urls.authorize,
        BASE_URL: urls.token,
        API_URL: urls.resource,
        DATABASE_URL: services.databaseUrl,
        REDIS_URL: services.redisUrl,
        NATS_URL: services.natsUrl,
        ...documents.settings,
        ...own[name],
        // The product counts login attempts per forwarded client address, as behind an ingress.
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
  const apps = await forEachApp(start);
  const fixture = await openFixture(services, tokenKeys);
  await fixture.clients.create({
    clientId: portal.id,
    name: 'Developers',
    type: 'confidential',
    scopes: ['openid', 'profile', 'email'],
    redirectUris: [`${urls.developers}/login/callback`],
    firstParty: true,
    developerPortal: true,
    secretHash: portalSecret.hash,
  });
  const close = async () => {
    closing = true;
    await Promise.all(APPS.map((name) => apps[name].stop()));
    receiver.close();
    documents.close();
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
    portal: { ...portal, url: urls.developers },
    documents,
    urls,
    port: (app, internal) => (internal ? Number(new URL(apps[app].internalUrl).port) : ports[app]),
    memory: () => forEachApp((app) => memoryOf(probeOf(app))),
    close,
  };
}

async function forEachApp<T>(make: (app: FuzzedApp) => T | Promise<T>): Promise<Record<FuzzedApp, T>> {
  const entries = APPS.map(async (app) => [app, await make(app)] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<FuzzedApp, T>;
}

async function memoryOf(probe: string): Promise<Memory> {
  const { rss, heapUsed, external } = JSON.parse(await text(connect(probe))) as NodeJS.MemoryUsage;
  return { rss, live: heapUsed + external };
}

function splitLines(take: (line: string) => void): (text: string) => void {
  let rest = '';
  return (piece) => {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(line);
  };
}
