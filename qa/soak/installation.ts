import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { connect, databaseDataSource } from '#database/data-source.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { ClientStore } from '#clients/client.store.js';
import { generateClientId, generateClientSecret } from '#oauth/oauth-client.js';
import { migrate } from '#database/migrate.js';
import { hashPassword } from '#users/password.js';
import { ResourceServerStore } from '#clients/resource-server/resource-server.store.js';
import { UserStore } from '#users/user.store.js';
import { freePort } from '#local/servers/free-port.js';
import { OAuthClient } from '#local/demo/oauth-client.js';
import { type GuardedProcess, signalProcess } from '#local/servers/guarded-process.js';
import type { DocumentHost } from '#test/support/document-host.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '#test/support/keys.js';
import { launchApp } from '#test/support/app-process.js';
import { until } from '#test/support/until.js';
import { APPS, type App, type ReplicaName, type Server } from './plan.js';
import { type PrivateServer, startServers } from './servers.js';

/** In seconds. Shorter than in production, so that some outages exceed the window. */
export const RETRY_WINDOW = 20;
/** A graceful shutdown allows 10 s for HTTP requests and 3 s for answers over NATS. */
const SHUTDOWN_DEADLINE_MS = 30_000;
const READINESS_DEADLINE_MS = 60_000;
const FIRST_USE_MS = 8_000;
export const OPENID_SCOPE = 'openid profile:read';
export const REDIRECT_URI = 'https://app.example.com/callback';

export interface Client {
  readonly client_id: string;
  /** Absent for a public client. */
  readonly client_secret?: string;
}

/** A client with `isOpenId` gets ID tokens and logout tokens. */
export interface RegisteredClient extends Client {
  readonly isOpenId: boolean;
  readonly hasDevices: boolean;
}

export interface User {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  /** Client address that the load balancer forwards. */
  readonly address: string;
}

export class AppReplica {
  inService = true;
  private process: GuardedProcess | undefined;
  private internalUrl = '';
  private readonly ending = new Set<GuardedProcess>();

  constructor(
    readonly name: ReplicaName,
    readonly app: App,
    private readonly port: number,
    readonly proxies: Readonly<Partial<Record<Server, FaultProxy>>>,
    private readonly env: Readonly<Record<string, string>>,
    private readonly folder: string,
    private readonly onUnexpectedExit: (detail: string) => void,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async launch(): Promise<void> {
    const logFile = join(this.folder, `${this.name.replace(' ', '-')}.log`);
    const launched = await launchApp(this.app, this.env, { port: this.port, logFile, patient: false });
    this.process = launched.process;
    this.internalUrl = launched.internalUrl;
    void launched.process.ended.then((how) => {
      if (!this.ending.has(launched.process)) this.onUnexpectedExit(`${this.name} ended by itself: ${how}`);
    });
  }

  ready(): Promise<void> {
    return until(`${this.name} is ready`, READINESS_DEADLINE_MS, async () => {
      const signal = AbortSignal.timeout(2_000);
      return (await fetch(`${this.internalUrl}/readyz`, { signal })).ok;
    });
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.process?.ended;
  }

  /** Sends SIGTERM, and SIGKILL after the deadline, as an orchestrator does. @returns how the process ended */
  async terminate(): Promise<string> {
    const process = this.process;
    if (!process) return 'nothing ran';
    this.signal('SIGTERM');
    const deadline = setTimeout(() => this.signal('SIGKILL'), SHUTDOWN_DEADLINE_MS);
    const how = await process.ended;
    clearTimeout(deadline);
    return how;
  }

  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    if (!this.process) return;
    if (name === 'SIGKILL' || name === 'SIGTERM') this.ending.add(this.process);
    signalProcess(this.process.pid, name);
  }

  async stop(): Promise<void> {
    if (this.process) this.ending.add(this.process);
    this.signal('SIGCONT');
    await this.process?.stop();
    for (const proxy of Object.values(this.proxies)) await proxy.close();
  }
}

interface Outside {
  readonly logoutUrl: string;
  readonly eventsUrl: string;
  readonly documents: DocumentHost;
}

/** Two replicas each of authorize, token and resource. Proxies inject faults between the replicas and their servers. */
export class Installation {
  private constructor(
    readonly servers: Readonly<Record<Server, PrivateServer>>,
    readonly replicas: readonly AppReplica[],
    readonly urls: Readonly<Record<'AUTH_URL' | 'BASE_URL' | 'API_URL', string>>,
    private readonly outside: Outside,
  ) {}

  /** @param folder for logs and data @param onUnexpectedExit called if a process ends without the soak's action */
  static async start(
    folder: string,
    outside: Outside,
    onUnexpectedExit: (detail: string) => void,
  ): Promise<Installation> {
    const servers = await startServers(folder);
    const replicas: AppReplica[] = [];
    try {
      await migrate(servers.postgres.url);
      const ports: Record<App, [number, number]> = {
        authorize: [await freePort(), await freePort()],
        token: [await freePort(), await freePort()],
        resource: [await freePort(), await freePort()],
      };
      const urls = {
        AUTH_URL: `http://localhost:${ports.authorize[0]}`,
        BASE_URL: `http://localhost:${ports.token[0]}`,
        API_URL: `http://localhost:${ports.resource[0]}`,
      };
      const shared = {
        ...urls,
        TOKEN_KEYS: randomBytes(32).toString('base64url'),
        RETRY_WINDOW: String(RETRY_WINDOW),
        // The maximum, which is longer than any outage.
        CODE_LIFETIME: '600',
        TRUSTED_PROXIES: '127.0.0.1',
        // These settings also permit requests to the applications' log-out addresses.
        ...outside.documents.settings,
      };
      const keys = { authorize: PUBLIC_ID_TOKEN_KEYS, token: ID_TOKEN_KEYS };
      for (const app of APPS)
        for (const number of [1, 2] as const) {
          const proxies: Partial<Record<Server, FaultProxy>> = {
            nats: await FaultProxy.start(servers.nats.url),
          };
          if (app !== 'resource') {
            proxies.redis = await FaultProxy.start(servers.redis.url);
            proxies.postgres = await FaultProxy.start(servers.postgres.url);
          }
          const env = {
            ...shared,
            ...(app !== 'resource' && { ID_TOKEN_KEYS: keys[app] }),
            NATS_URL: proxies.nats?.url ?? '',
            ...(proxies.redis && { REDIS_URL: proxies.redis.url }),
            ...(proxies.postgres && { DATABASE_URL: proxies.postgres.url }),
          };
          replicas.push(
            new AppReplica(
              `${app} ${number}`,
              app,
              ports[app][number - 1] ?? 0,
              proxies,
              env,
              folder,
              onUnexpectedExit,
            ),
          );
        }
      await Promise.all(replicas.map((replica) => replica.launch()));
      await Promise.all(replicas.map((replica) => replica.ready()));
      return new Installation(servers, replicas, urls, outside);
    } catch (error) {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      throw error;
    }
  }

  replicasOf(app: App): AppReplica[] {
    return this.replicas.filter((replica) => replica.app === app);
  }

  async registerClient(type: 'confidential' | 'public', isOpenId = false): Promise<RegisteredClient> {
    const { secret, hash } = generateClientSecret();
    const confidential = type === 'confidential';
    const clientId = generateClientId();
    const backchannelLogoutUri = `${this.outside.logoutUrl}/${clientId}`;
    await this.database(async (source) => {
      await new ClientStore(source).create({
        clientId,
        name: 'Calendar Connect',
        type,
        scopes: ['profile:read', ...(isOpenId ? ['openid'] : [])],
        redirectUris: [REDIRECT_URI],
        deviceGrant: true,
        ...(isOpenId && { postLogoutRedirectUris: [], backchannelLogoutUri }),
        ...(confidential && { secretHash: hash }),
      });
      if (confidential)
        await new EventStreamStore(source).register(clientId, `${this.outside.eventsUrl}/${clientId}`, [
          'tokens-revoked',
        ]);
    });
    return {
      client_id: clientId,
      ...(confidential && { client_secret: secret }),
      isOpenId,
      hasDevices: true,
    };
  }

  /**
   * Registers a client by its metadata document and uses the client once at each replica. The document's host then
   * stops responding, which must not affect the client.
   *
   * @throws Error if a first use fails
   */
  async registerDocumentClient(): Promise<RegisteredClient> {
    const { documents, logoutUrl } = this.outside;
    const url = documents.newUrl();
    documents.publish(url, {
      redirect_uris: [REDIRECT_URI],
      scope: OPENID_SCOPE,
      backchannel_logout_uri: `${logoutUrl}/${url}`,
    });
    const { pathname, search } = new OAuthClient(
      { client_id: url },
      REDIRECT_URI,
      () => undefined,
    ).authorizationUrl(this.urls.AUTH_URL, {
      code_challenge: randomBytes(32).toString('base64url'),
      code_challenge_method: 'S256',
    });
    const signal = AbortSignal.timeout(FIRST_USE_MS);
    const uses = this.replicasOf('authorize').map((replica) =>
      fetch(`${replica.url}${pathname}${search}`, { redirect: 'manual', signal }),
    );
    for (const { status } of await Promise.all(uses))
      if (status !== 303) throw new Error(`the first use of ${url} got the status ${status}`);
    documents.answer(url, (response) => response.writeHead(503).end());
    return { client_id: url, isOpenId: true, hasDevices: false };
  }

  /** @param number number that determines the client address */
  async registerUser(number: number): Promise<User> {
    const password = randomBytes(12).toString('hex');
    const username = `ada-${randomBytes(6).toString('hex')}`;
    const email = `${username}@example.com`;
    const passwordHash = await hashPassword(password);
    const { id } = await this.database((source) =>
      new UserStore(source).create({ email, username, name: 'Ada Lovelace', passwordHash }),
    );
    return { id, email, password, address: `10.0.${number >> 8}.${number & 255}` };
  }

  async registerResourceServer(): Promise<Required<Client>> {
    const { secret, hash } = generateClientSecret();
    const { id } = await this.database((source) => new ResourceServerStore(source).create('Soak', hash));
    return { client_id: id, client_secret: secret };
  }

  /** Returns ids of the revoked grants of clients that receive events. */
  async revokedGrants(): Promise<string[]> {
    const rows = await this.database((source) =>
      source.query<{ id: string }[]>(
        "SELECT g.id FROM grants g JOIN event_streams s USING (client_id) WHERE g.revoked_at IS NOT NULL AND s.delivery = 'push'",
      ),
    );
    return rows.map(({ id }) => id);
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await Promise.all(Object.values(this.servers).map((server) => server.stop()));
  }

  /** Connects to PostgreSQL without a proxy. @throws Error while PostgreSQL is down */
  private async database<T>(work: (source: DataSource) => Promise<T>): Promise<T> {
    const { url } = this.servers.postgres;
    const source = await connect(databaseDataSource(url), url, 0);
    try {
      return await work(source);
    } finally {
      await source.destroy();
    }
  }
}
