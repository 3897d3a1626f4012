import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { withDatabase } from '#test/support/test-database.js';
import { debianServer } from '#local/servers/debian-package.js';
import { findServers, machineLookup, serverEnvironment } from '#local/servers/find-server.js';
import { startGuarded } from '#local/servers/guarded-process.js';
import { startPostgres } from '#local/servers/postgres.js';
import {
  type BackingServer,
  type BackingService,
  type ServiceOptions,
  startService,
} from '#local/servers/started-service.js';
import { unprivilegedUser } from '#local/servers/run-command.js';
import { startNats } from './nats.js';
import { serverFile, ownSettings, ROOT } from './settings.js';

export type Process =
  'authorize' | 'token' | 'resource' | 'console' | 'developers' | 'operator' | 'product' | 'migrate';

export interface Servers {
  environmentOf(name: Process): Promise<Record<string, string>>;
  readonly superuserUrl: string;
  stop(): Promise<void>;
}

/** Starts PostgreSQL, Redis and NATS as k8s/overlays/local and docker-compose.yml configure them. */
export async function startServers(): Promise<Servers> {
  const settings = await ownSettings();
  const started: BackingService[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(({ process }) => process.stop()));
    await settings.remove();
  };
  try {
    const keep = (service: BackingService): URL => {
      started.push(service);
      return new URL(service.url);
    };
    const postgres = keep(await startPostgres({ directory: join(ROOT, '.local'), persistent: false, find }));
    await makeRoles(postgres.href, join(settings.folder, 'postgres/roles.sql'));
    const redis = keep(await startRedis(settings.folder));
    const nats = keep((await startNats(settings.folder)).service);
    const at: Readonly<Record<string, URL>> = {
      DATABASE_URL: postgres,
      REDIS_URL: redis,
      NATS_URL: nats,
      AUDIT_NATS_URL: nats,
    };
    const superuser = new URL(postgres.href);
    superuser.pathname = '/oauth';
    return {
      superuserUrl: superuser.href,
      stop,
      async environmentOf(name) {
        const files = ['database', 'redis', 'nats', 'token-keys', 'id-token-keys', 'login'].map(
          (file) => `${file}.env`,
        );
        const texts = await Promise.all(
          files.map((file) => readFile(join(settings.folder, name, file), 'utf8').catch(() => '')),
        );
        const lines = texts.join('').trim().split('\n');
        return Object.fromEntries(lines.map((line) => moved(line.split(/=(.*)/s), at)));
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function moved([name = '', value = '']: string[], at: Readonly<Record<string, URL>>): [string, string] {
  const server = at[name];
  if (!server) return [name, value];
  const url = new URL(value);
  url.host = server.host;
  return [name, url.href];
}

const find: ServiceOptions['find'] = async (server: BackingServer, folder) => {
  const user = server === 'postgres' ? await unprivilegedUser() : undefined;
  const found = await findServers(server, machineLookup(process.env), user);
  if (found.length > 0) return found;
  return [await debianServer(server, folder, { user, env: process.env, progress: () => undefined })];
};

/** Executes the statements of a script for psql, which creates the database and its roles. */
async function makeRoles(url: string, file: string): Promise<void> {
  const [before = '', after = ''] = (await readFile(file, 'utf8')).split('\\connect oauth\n');
  const inOauth = new URL(url);
  inOauth.pathname = '/oauth';
  for (const [where, statements] of [
    [url, before],
    [inOauth.href, after],
  ] as const) {
    await withDatabase(where, async (client) => {
      for (const statement of statements.split(';\n').filter(Boolean)) await client.query(statement);
    });
  }
}

async function startRedis(settings: string): Promise<BackingService> {
  const files = await redisFiles(settings);
  return runRedis(files, [files.folder]);
}

export interface RedisFiles {
  readonly folder: string;
  readonly file: string;
  readonly password: string;
}

export async function redisFiles(settings: string): Promise<RedisFiles> {
  const { folder, file } = await serverFile('redis', settings, [
    ['dir /data', 'dir FOLDER/data'],
    ['aclfile /etc/redis/settings', 'aclfile FOLDER/settings'],
  ]);
  const password =
    /^user console on >(\S+)/m.exec(await readFile(join(folder, 'settings/users.acl'), 'utf8'))?.[1] ?? '';
  return { folder, file, password };
}

/** @param remove folders to remove when the server stops */
export async function runRedis(
  { folder, file, password }: RedisFiles,
  remove: readonly string[] = [],
): Promise<BackingService> {
  const [server] = await find('redis-server', join(ROOT, '.local'));
  return startService('Redis', join(folder, 'log'), async (port) => {
    const url = `redis://console:${password}@127.0.0.1:${port}`;
    const guarded = startGuarded({
      name: 'Redis',
      command: server?.command ?? '',
      args: [file, '--bind', '127.0.0.1', '--port', String(port)],
      cwd: folder,
      env: serverEnvironment(server?.libraryPath),
      logFile: join(folder, 'log'),
      signal: 'SIGTERM',
      grace: 3_000,
      remove,
    });
    const connect = async (): Promise<void> => {
      const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
      redis.on('error', () => undefined);
      await redis.connect();
      redis.disconnect();
    };
    return { url, process: guarded, connect };
  });
}
