import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { randomBytes } from 'node:crypto';
import { freePort } from '#local/servers/free-port.js';
import type { RunFile } from '#local/demo/run-script.js';
import { NODE_ARGUMENTS } from '../support/built.js';
import { descendantsOf, type SeenProcess } from '../support/process-tree.js';
import { sharePackages } from '../support/shared-packages.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '../support/keys.js';
import { isolate } from '../support/isolate.js';
import { type AppName, type AppProcess, startApp } from '../support/app-process.js';
import { register } from './running-product.js';
import { temporaryFolder } from '#local/servers/service-folder.js';

const START = fileURLToPath(new URL('../../dist/local/start.js', import.meta.url));
const MAINS = ['apps/authorize.cjs', 'apps/token.cjs', 'apps/resource.cjs', 'local/demo-app/main.js'];
const PORTS = [
  'DEMO_PORT',
  'AUTHORIZE_PORT',
  'TOKEN_PORT',
  'RESOURCE_PORT',
  'CONSOLE_PORT',
  'DEVELOPERS_PORT',
];

export interface Run {
  auth_url: string;
  base_url: string;
  api_url: string;
  internal: { authorize: string; token: string; resource: string; console: string; developers: string };
  client: { client_id: string; client_secret: string; redirect_uri: string };
  user: { email: string; password: string };
  database_url: string;
  redis_url: string;
  nats_url: string;
}

/** Returns an environment with free ports and a new folder, which the test must remove. */
export async function isolatedEnvironment(): Promise<Record<string, string> & { LOCAL_DIR: string }> {
  const directory = await temporaryFolder('start-test');
  await chmod(directory, 0o755);
  await sharePackages(directory);
  const ports = await Promise.all(PORTS.map(async (name) => [name, String(await freePort())]));
  return { ...(Object.fromEntries(ports) as Record<string, string>), LOCAL_DIR: directory };
}

/** A running `npm start`, without its build. */
export class StartedProduct {
  output = '';
  readonly exit: Promise<number>;
  private readonly child: ChildProcess;

  /**
   * @param env LOCAL_DIR, ports and other variables
   * @param npm true to start the product through a parent process and a shell, as npm does
   */
  constructor(
    private readonly env: Record<string, string>,
    { npm = false, flags = [] as readonly string[] } = {},
  ) {
    const command = [process.execPath, START, ...flags];
    const script = command.map((word) => `'${word}'`).join(' ');
    const shell = `require('child_process').spawn('/bin/sh', ['-c', ${JSON.stringify(`${script}; exit $?`)}], { stdio: 'inherit' })`;
    const [program = '', ...args] = npm ? [process.execPath, '-e', shell] : command;
    // Removes the servers of the test environment, because npm start must start private ones.
    const { DATABASE_URL: _d, REDIS_URL: _r, NATS_URL: _n, NODE_ENV: _e, ...ours } = process.env;
    const lifecycle = npm ? { npm_lifecycle_event: 'start' } : {};
    delete ours['npm_lifecycle_event'];
    this.child = spawn(program, args, {
      // The processes of the product inherit the code cache.
      env: { ...ours, ...lifecycle, ...env, NODE_OPTIONS: NODE_ARGUMENTS.join(' ') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.child.stderr?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.exit = once(this.child, 'exit').then(([code]) => Number(code ?? -1));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async ready(): Promise<Run> {
    await this.until(() => this.output.includes('Begin here'));
    return JSON.parse(await readFile(this.runFile, 'utf8')) as Run;
  }

  /** Resolves when all processes exist, although they may not be ready. */
  async allStarted(): Promise<SeenProcess[]> {
    let all: SeenProcess[] = [];
    // Waits for the first app, because listing the machine's processes is slow.
    await this.until(() => this.output.includes('starting authorize'));
    await this.until(async () => {
      all = await this.processes();
      return MAINS.every((main) =>
        all.some(({ command }) => /^\S*node /.test(command) && command.includes(main)),
      );
    });
    return all;
  }

  private async until(check: () => boolean | Promise<boolean>): Promise<void> {
    let hasEnded = false;
    void this.exit.then(() => (hasEnded = true));
    const ended = (): boolean => hasEnded;
    while (!(await check())) {
      if (ended()) throw new Error(`npm start ended:\n${this.output}`);
      await sleep(50);
    }
  }

  get runFile(): string {
    return join(this.env['LOCAL_DIR'] ?? '', 'run.json');
  }

  /** Signals only the process itself. @returns the exit code; -1 if the process was killed */
  kill(signal: NodeJS.Signals): Promise<number> {
    this.child.kill(signal);
    return this.exit;
  }

  processes(): Promise<SeenProcess[]> {
    return descendantsOf(this.pid);
  }
}

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
