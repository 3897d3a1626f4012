import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { connect, databaseDataSource } from '#database/connection/data-source.js';
import { ClientStore } from '#database/client/client.store.js';
import { generateClientSecret } from '#oauth/client.js';
import { migrate } from '#database/connection/migrate.js';
import { hashPassword } from '#database/user/password.js';
import { ResourceServerStore } from '#database/resource-server/resource-server.store.js';
import { UserStore } from '#database/user/user.store.js';
import { freePort } from '#testing/backing/free-port.js';
import type { GuardedProcess } from '#testing/backing/guarded-process.js';
import { Interposer } from '#testing/interposer.js';
import { launchApp } from '#testing/launch-app.js';
import { until } from '#testing/topology/until.js';
import { APPS, type App, type Copy, type Server } from './plan.js';
import { type PrivateServer, startServers } from './servers.js';

/** Seconds. Shorter than in production, so that some outages outlast it. */
export const RETRY_WINDOW = 20;
/** The other end of a graceful end: what is under way gets 10 s, and answers over NATS 3 s. */
const ENDS_WITHIN_MS = 30_000;
const READY_WITHIN_MS = 60_000;
export const REDIRECT_URI = 'https://app.example.com/callback';

export interface Client {
  readonly client_id: string;
  /** None for a public client. */
  readonly client_secret?: string;
}

export interface Person {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  /** Where its browser is, as the balancer says. */
  readonly address: string;
}

/** One process of an app, and its lines to the servers. */
export class AppCopy {
  /** Whether the balancer sends requests to it. */
  inService = true;
  private process: GuardedProcess | undefined;
  private internalUrl = '';
  /** Ends that we brought about. */
  private readonly expected = new Set<GuardedProcess>();

  constructor(
    readonly name: Copy,
    readonly app: App,
    private readonly port: number,
    readonly lines: Readonly<Partial<Record<Server, Interposer>>>,
    private readonly env: Readonly<Record<string, string>>,
    private readonly folder: string,
    private readonly died: (what: string) => void,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async launch(): Promise<void> {
    const logFile = join(this.folder, `${this.name.replace(' ', '-')}.log`);
    const launched = await launchApp({ name: this.app, port: this.port, env: this.env, logFile });
    this.process = launched.process;
    this.internalUrl = launched.internalUrl;
    void launched.process.ended.then((how) => {
      if (!this.expected.has(launched.process)) this.died(`${this.name} ended by itself: ${how}`);
    });
  }

  /** Resolves when it says that nothing is missing. @throws when that takes too long */
  ready(): Promise<void> {
    return until(`${this.name} is ready`, READY_WITHIN_MS, async () => {
      const signal = AbortSignal.timeout(2_000);
      return (await fetch(`${this.internalUrl}/readyz`, { signal })).ok;
    });
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.process?.ended;
  }

  /** As an orchestrator does it. @returns how it ended */
  async terminate(): Promise<string> {
    const process = this.process;
    if (!process) return 'nothing ran';
    this.signal('SIGTERM');
    const late = setTimeout(() => this.signal('SIGKILL'), ENDS_WITHIN_MS);
    const how = await process.ended;
    clearTimeout(late);
    return how;
  }

  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    if (!this.process) return;
    if (name === 'SIGKILL' || name === 'SIGTERM') this.expected.add(this.process);
    try {
      process.kill(this.process.pid, name);
    } catch {
      // It has ended already.
    }
  }

  async stop(): Promise<void> {
    if (this.process) this.expected.add(this.process);
    this.signal('SIGCONT');
    await this.process?.stop();
    for (const line of Object.values(this.lines)) line.close();
  }
}

/** The product as it is deployed: two copies of each app, which reach their servers by lines that can be cut. */
export class Installation {
  private constructor(
    readonly servers: Readonly<Record<Server, PrivateServer>>,
    readonly copies: readonly AppCopy[],
    readonly urls: Readonly<Record<'AUTH_URL' | 'BASE_URL' | 'API_URL', string>>,
  ) {}

  /**
   * @param folder for logs and data
   * @param died told when a process ends that nobody ended
   */
  static async start(folder: string, died: (what: string) => void): Promise<Installation> {
    const servers = await startServers(folder);
    const copies: AppCopy[] = [];
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
        // The longest there is: no code is refused because an outage took long.
        CODE_LIFETIME: '600',
        TRUSTED_PROXIES: '127.0.0.1',
      };
      for (const app of APPS)
        for (const number of [1, 2] as const) {
          const lines: Partial<Record<Server, Interposer>> = { nats: await Interposer.to(servers.nats.url) };
          if (app !== 'resource') {
            lines.redis = await Interposer.to(servers.redis.url);
            lines.postgres = await Interposer.to(servers.postgres.url);
          }
          const env = {
            ...shared,
            NATS_URL: lines.nats?.url ?? '',
            ...(lines.redis && { REDIS_URL: lines.redis.url }),
            ...(lines.postgres && { DATABASE_URL: lines.postgres.url }),
          };
          copies.push(
            new AppCopy(`${app} ${number}`, app, ports[app][number - 1] ?? 0, lines, env, folder, died),
          );
        }
      await Promise.all(copies.map((copy) => copy.launch()));
      await Promise.all(copies.map((copy) => copy.ready()));
      return new Installation(servers, copies, urls);
    } catch (error) {
      await Promise.all(copies.map((copy) => copy.stop()));
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      throw error;
    }
  }

  copiesOf(app: App): AppCopy[] {
    return this.copies.filter((copy) => copy.app === app);
  }

  async newClient(type: 'confidential' | 'public'): Promise<Client> {
    const { secret, hash } = generateClientSecret();
    const confidential = type === 'confidential';
    const { clientId } = await this.database(({ clients }) =>
      clients.create({
        name: 'Calendar Connect',
        type,
        redirectUris: [REDIRECT_URI],
        ...(confidential && { secretHash: hash }),
      }),
    );
    return { client_id: clientId, ...(confidential && { client_secret: secret }) };
  }

  /** @param number tells where the browser is */
  async newPerson(number: number): Promise<Person> {
    const password = randomBytes(12).toString('hex');
    const username = `ada-${randomBytes(6).toString('hex')}`;
    const email = `${username}@example.com`;
    const passwordHash = await hashPassword(password);
    const { id } = await this.database(({ users }) =>
      users.create({ email, username, name: 'Ada Lovelace', passwordHash }),
    );
    return { id, email, password, address: `10.0.${number >> 8}.${number & 255}` };
  }

  async newResourceServer(): Promise<Required<Client>> {
    const { secret, hash } = generateClientSecret();
    const { id } = await this.database(({ resourceServers }) => resourceServers.create('Soak', hash));
    return { client_id: id, client_secret: secret };
  }

  async stop(): Promise<void> {
    await Promise.all(this.copies.map((copy) => copy.stop()));
    await Promise.all(Object.values(this.servers).map((server) => server.stop()));
  }

  /** On a connection of its own, past every line. @throws while PostgreSQL is away */
  private async database<T>(
    work: (stores: {
      clients: ClientStore;
      users: UserStore;
      resourceServers: ResourceServerStore;
    }) => Promise<T>,
  ): Promise<T> {
    const { url } = this.servers.postgres;
    const source = await connect(databaseDataSource(url), url, 0);
    try {
      return await work({
        clients: new ClientStore(source),
        users: new UserStore(source),
        resourceServers: new ResourceServerStore(source),
      });
    } finally {
      await source.destroy();
    }
  }
}
