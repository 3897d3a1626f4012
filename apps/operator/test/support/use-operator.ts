import { type ChildProcess, fork, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { NODE_ARGUMENTS } from '#test/support/built.js';
import { withCredentials } from '#test/support/process-credentials.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { type Fixture, openFixture, started } from '#test/support/fixture.js';
import { type AppName, type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';

const MAIN = resolve('dist/apps/operator.cjs');

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command as a separate process. @param env complete environment except PATH */
export async function runOperator(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdin: string | Buffer = '',
): Promise<Outcome> {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, MAIN, ...args], {
    env: { PATH: process.env.PATH, ...ownEnvironment(args, env) },
  });
  // The command may exit before it reads its input.
  child.stdin.on('error', () => undefined).end(stdin);
  const ended = new Promise<number | null>((done) => child.on('close', done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Only `migrate` may change tables. */
const ownEnvironment = ([command]: readonly string[], env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  command === 'migrate' ? env : withCredentials('operator', env);

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
export function withoutIds(text: string): string {
  return text.replaceAll(/sc_[a-z2-7]{24}/g, '');
}

const HOST = resolve('apps/operator/test/support/command-host-process.mjs');
let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs built commands sequentially in one process per Jest worker. One process per command is a hundred times slower.
 * Does not test the exit of the process.
 * @param env complete environment except PATH
 */
export function runCommand(args: readonly string[], env: NodeJS.ProcessEnv, stdin = ''): Promise<Outcome> {
  const outcome = last.then(() => ask({ args, settings: ownEnvironment(args, env), stdin }));
  last = outcome.catch(() => undefined);
  return outcome;
}

async function ask(command: object): Promise<Outcome> {
  host ??= fork(HOST, { execArgv: [] });
  host.ref();
  host.channel?.ref();
  const answered = once(host, 'message');
  host.send(command);
  const [outcome] = (await answered) as [Outcome];
  // Allows the worker to exit. The host then also exits, because its channel closes.
  host.unref();
  host.channel?.unref();
  return outcome;
}

/** Services, settings and a command runner for one suite. */
export interface TestOperator {
  env: NodeJS.ProcessEnv;
  natsUrl: string;
  databaseUrl: string;
  /** Empty folder in place of `.local`. */
  localDir: string;
  run(args: readonly string[], env?: NodeJS.ProcessEnv, stdin?: string): Promise<Outcome>;
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
  return {
    natsUrl,
    databaseUrl,
    localDir,
    env: settings,
    run: (args, env = settings, stdin = '') => runCommand(args, env, stdin),
    rows: (sql, parameters) => database.query(sql, parameters),
    counts: () =>
      database.query(
        `SELECT (SELECT count(*) FROM clients) AS clients, (SELECT count(*) FROM client_secrets) AS secrets,
                (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM grants) AS grants`,
      ),
    async close() {
      await database.destroy();
      await isolated.close();
      await rm(localDir, { recursive: true });
    },
  };
}

/** Starts processes of the product for a suite. */
export function useRunningApps(names: readonly AppName[], settings: Readonly<Record<string, string>> = {}) {
  const env = started() as Record<string, string> & { NATS_URL: string };
  const urls = started() as Record<AppName, string>;
  const fixture = started() as Fixture;
  let services: Isolated;
  let apps: readonly AppProcess[] = [];

  beforeAll(async () => {
    services = await isolate();
    Object.assign(env, appSettings(services), { API_URL: 'https://api.example.com' });
    const TOKEN_KEYS = randomBytes(32).toString('base64url');
    const shared = { ...env, LOG_LEVEL: 'warn', TOKEN_KEYS, ...settings };
    apps = await Promise.all(names.map((name) => startApp(name, shared)));
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
