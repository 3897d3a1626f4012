import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { type BackingServices, startBackingServices } from '../servers/backing-services.js';
import type { Lookup } from '../servers/find-server.js';
import { descendantsOf } from '#test/support/process-tree.js';
import { sharePackages } from '#test/support/shared-packages.js';
import { withDatabase } from '#test/support/test-database.js';
import { testServices } from '#test/support/test-services.js';
import { temporaryFolder } from '../servers/service-folder.js';

const PATH = process.env['PATH'];
const NOWHERE: Lookup = { path: '', folders: [], postgresRoots: [] };

describe('backing services', () => {
  let directory: string;
  let shown: string[];
  let running: BackingServices | undefined;

  beforeEach(async () => {
    directory = await emptyFolder();
    shown = [];
    running = undefined;
  });

  afterEach(async () => {
    await running?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const start = async (env: NodeJS.ProcessEnv, lookup?: Lookup): Promise<BackingServices> => {
    const progress = (text: string): void => void shown.push(text);
    running = await startBackingServices({
      env,
      directory,
      persistent: false,
      progress,
      ...(lookup ? { lookup } : {}),
    });
    return running;
  };

  it('are neither started nor stopped if the environment contains their URLs', async () => {
    const { databaseUrl, redisUrl, natsUrl } = testServices();
    // Counts only direct children, because servers that this process started create and end session processes.
    const children = async (): Promise<number[]> =>
      (await descendantsOf(process.pid)).filter(({ parent }) => parent === process.pid).map(({ pid }) => pid);
    const before = await children();
    const given = await start({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, NATS_URL: natsUrl }, NOWHERE);
    expect(given).toMatchObject({ databaseUrl, redisUrl, natsUrl });
    // Processes of earlier tests may still be ending.
    expect((await children()).filter((pid) => !before.includes(pid))).toEqual([]);
    await given.stop();
    await answers(given);
  });

  // On other systems, debian-package.long.spec.ts tests the error.
  const onDebian = existsSync('/usr/bin/apt-get') ? it : it.skip;
  onDebian(
    "are unpacked once from the distribution's packages when the machine has no servers",
    async () => {
      await answers(await start({ PATH }, NOWHERE));
      expect(shown[0]).toBe(
        "PostgreSQL, Redis and NATS are not on this machine: unpacking the distribution's packages",
      );
      await running?.stop();
      shown = [];
      await answers(await start({ PATH }, NOWHERE));
      expect(shown).toEqual([]);
    },
    240_000,
  );

  it('are never started in production', async () => {
    await expect(start({ PATH, NODE_ENV: 'production' })).rejects.toThrow(
      'DATABASE_URL is not set, REDIS_URL is not set, NATS_URL is not set: production starts no servers',
    );
  });
});

describe("private instances of the machine's servers", () => {
  let directory: string;
  let services: BackingServices;

  beforeAll(async () => {
    directory = await emptyFolder();
    await sharePackages(directory);
    services = await startIn(directory);
  });

  afterAll(async () => {
    await services?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('do not use the standard ports', async () => {
    await answers(services);
    const ports = [services.databaseUrl, services.redisUrl, services.natsUrl].map((url) => new URL(url).port);
    expect(ports).not.toEqual(expect.arrayContaining(['5432']));
    expect(ports).not.toEqual(expect.arrayContaining(['6379']));
    expect(ports).not.toEqual(expect.arrayContaining(['4222']));
  });

  it('require passwords that are not on any command line', async () => {
    const wrong = (url: string): string => url.replace(new URL(url).password, 'wrong');
    await expect(postgresAnswers(wrong(services.databaseUrl))).rejects.toThrow(
      'password authentication failed',
    );
    await expect(redisAnswers(wrong(services.redisUrl))).rejects.toThrow(/WRONGPASS|NOAUTH/);
    await expect(redisAnswers(`redis://${new URL(services.redisUrl).host}`)).rejects.toThrow('NOAUTH');
    await expect(natsAnswers(wrong(services.natsUrl))).rejects.toThrow(/authorization violation/i);
    const commands = (await descendantsOf(process.pid)).map(({ command }) => command).join('\n');
    expect(commands).toContain('postgres');
    for (const url of [services.databaseUrl, services.redisUrl, services.natsUrl]) {
      expect(commands).not.toContain(new URL(url).password);
    }
  });

  it('keep data and passwords across starts', async () => {
    const first = services;
    await sql(first.databaseUrl, 'CREATE TABLE kept (n int)');
    const redis = new Redis(first.redisUrl);
    await redis.set('kept', 'yes');
    redis.disconnect();
    await first.stop();
    const second = (services = await startIn(directory));
    expect(new URL(second.databaseUrl).password).toBe(new URL(first.databaseUrl).password);
    await sql(second.databaseUrl, 'SELECT n FROM kept');
    const reopened = new Redis(second.redisUrl);
    expect(await reopened.get('kept')).toBe('yes');
    reopened.disconnect();
  });
});

async function emptyFolder(): Promise<string> {
  const directory = await temporaryFolder('backing-test');
  await chmod(directory, 0o755);
  return directory;
}

function startIn(directory: string): Promise<BackingServices> {
  return startBackingServices({ env: { PATH }, directory, persistent: true, progress: () => undefined });
}

async function answers({ databaseUrl, redisUrl, natsUrl }: BackingServices): Promise<void> {
  await Promise.all([postgresAnswers(databaseUrl), redisAnswers(redisUrl), natsAnswers(natsUrl)]);
}

function postgresAnswers(url: string): Promise<void> {
  return sql(url, 'SELECT 1');
}

async function sql(url: string, statement: string): Promise<void> {
  await withDatabase(url, (client) => client.query(statement));
}

async function redisAnswers(url: string): Promise<void> {
  // Disables the ready check, whose error would hide the error of SET.
  const client = new Redis(url, { enableReadyCheck: false, retryStrategy: () => null });
  let refused: Error | undefined;
  client.on('error', (error) => (refused ??= error));
  try {
    await client.set('answers', 'yes');
  } catch (error) {
    throw refused ?? error;
  } finally {
    client.disconnect();
  }
}

async function natsAnswers(url: string): Promise<void> {
  const { host, username, password } = new URL(url);
  const connection = await connect({ servers: host, user: username, pass: password, reconnect: false });
  await connection.close();
}
