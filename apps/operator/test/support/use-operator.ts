import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DataSource } from 'typeorm';
import type { AdministrationSettings } from '#operations/administration.options.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { type Fixture, openFixture, started } from '#test/support/fixture.js';
import type { AppName } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { startAppInProcess, type AppInProcess } from '#test/support/app-in-process.js';
import { administrations } from '../../src/connections/administration.js';
import type { Administration } from '../../src/connections/open-administration.js';
import { runCommand as runProgram } from '../../src/program.js';
import { type Outcome, ownEnvironment } from './outcome.js';

/** Requires success and an empty stderr. @returns the output of --json */
export function jsonOf({ code, stdout, stderr }: Outcome): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Requires exit code 2, a matching message and an empty stdout. */
export function expectRefused({ code, stdout, stderr }: Outcome, problem: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(problem);
}

/** Removes client ids, whose random letters may form any word. */
export function withoutIds(output: string): string {
  return output.replaceAll(/sc_[a-z2-7]{24}/g, '');
}

/** Keeps what commands open, because opening takes half of the CPU time of a command. */
class KeptAdministrations {
  private readonly kept = new Map<string, Promise<Administration>>();

  constructor(private readonly openAnother: typeof administrations.open) {}

  // A command gets an administration with no other settings than its own.
  open = async (settings: AdministrationSettings): Promise<Administration> => {
    const key = JSON.stringify(settings);
    const administration = this.kept.get(key) ?? this.openAnother(settings);
    this.kept.set(key, administration);
    return { ...(await administration), close: async () => undefined };
  };

  async close(): Promise<void> {
    for (const administration of this.kept.values()) await (await administration).close();
  }
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs commands sequentially in this process, which takes a tenth of the CPU time of a process per command. Does not
 * test the exit of the process.
 * @param env complete environment except PATH
 */
export function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin: string | Buffer = '',
  open = administrations.open,
): Promise<Outcome> {
  const outcome = last.then(() => runHere(args, ownEnvironment(args, env), stdin, open));
  last = outcome.catch(() => undefined);
  return outcome;
}

async function runHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin: string | Buffer,
  open: typeof administrations.open,
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  const own = Object.getOwnPropertyDescriptors(process);
  const replaced = {
    argv: [process.argv0, 'operator', ...args],
    env: { PATH: process.env.PATH, ...env },
    stdin: Readable.from(stdin.length === 0 ? [] : [Buffer.from(stdin)]),
    stdout,
    stderr,
  };
  for (const [name, value] of Object.entries(replaced))
    Object.defineProperty(process, name, { value, configurable: true, writable: true, enumerable: true });
  const openOne = administrations.open;
  let code: number;
  try {
    administrations.open = open;
    code = await runProgram();
  } finally {
    administrations.open = openOne;
    for (const name of Object.keys(replaced) as (keyof typeof replaced)[])
      Object.defineProperty(process, name, own[name]);
  }
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

/** Services, settings and a command runner for one suite. */
export interface TestOperator {
  env: NodeJS.ProcessEnv;
  natsUrl: string;
  databaseUrl: string;
  /** Empty folder in place of `.local`. */
  localDir: string;
  run(args: readonly string[], env?: NodeJS.ProcessEnv, stdin?: string | Buffer): Promise<Outcome>;
  rows<T>(sql: string, parameters?: unknown[]): Promise<T[]>;
  counts(): Promise<unknown>;
  close(): Promise<void>;
}

export function useOperator(): TestOperator {
  const operator = started() as TestOperator;
  beforeAll(async () => {
    Object.assign(operator, await startOperator());
  });
  afterAll(() => operator.close());
  return operator;
}

async function startOperator(): Promise<TestOperator> {
  const isolated = await isolate();
  const { databaseUrl, natsUrl } = isolated;
  const localDir = await mkdtemp(join(tmpdir(), 'operator-'));
  const database = await new DataSource({ type: 'postgres', url: databaseUrl }).initialize();
  const settings = {
    DATABASE_URL: databaseUrl,
    AUTH_URL: 'https://auth.example.com',
    BASE_URL: 'https://api.example.com',
    NATS_URL: natsUrl,
    LOCAL_DIR: localDir,
  };
  const kept = new KeptAdministrations(administrations.open);
  return {
    natsUrl,
    databaseUrl,
    localDir,
    env: settings,
    run: (args, env = settings, stdin = '') =>
      env === settings ? runCommand(args, env, stdin, kept.open) : runCommand(args, env, stdin),
    rows: (sql, parameters) => database.query(sql, parameters),
    counts: () =>
      database.query(
        `SELECT (SELECT count(*) FROM clients) AS clients, (SELECT count(*) FROM client_secrets) AS secrets,
                (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM grants) AS grants`,
      ),
    async close() {
      await kept.close();
      await database.destroy();
      await isolated.close();
      await rm(localDir, { recursive: true });
    },
  };
}

/** Starts apps of the product for a suite, in its process. */
export function useRunningApps(names: readonly AppName[], settings: Readonly<Record<string, string>> = {}) {
  const env = started() as Record<string, string> & { NATS_URL: string };
  const urls = started() as Record<AppName, string>;
  const fixture = started() as Fixture;
  let services: Isolated;
  let apps: readonly AppInProcess[] = [];

  beforeAll(async () => {
    services = await isolate();
    Object.assign(env, appSettings(services), { API_URL: 'https://api.example.com' });
    const TOKEN_KEYS = randomBytes(32).toString('base64url');
    const shared = { ...env, TOKEN_KEYS, ...settings };
    apps = await Promise.all(names.map((name) => startAppInProcess(name, shared)));
    for (const { name, url } of apps) Object.assign(urls, { [name]: url });
    Object.assign(fixture, await openFixture(services, TOKEN_KEYS));
  });

  afterAll(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await fixture.close();
    await services.close();
  });

  return { env, urls, fixture };
}
