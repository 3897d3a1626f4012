import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publicIdTokenKeys } from '#oauth/openid/signing-keys.js';
import { freePort } from '../servers/free-port.js';
import { type GuardedProcess, startGuarded } from '../servers/guarded-process.js';
import { lastLines, problemOfStart } from '../servers/started-service.js';
import { accepts } from './preflight.js';
import { type Account, type Settings, StartError } from './settings.js';
import type { BackingServices } from '../servers/backing-services.js';
import type { ProcessUrls } from './process-urls.js';

/** Log levels of pino. */
const WARNING = 40;
const ERROR = 50;

/** Interval in which a repeated line is shown once, because a waiting app logs every second. */
const REPEAT_INTERVAL_MS = 30_000;

/**
 * Shows warnings, errors, and lines that are not JSON, such as the stack of a crash.
 * @returns a function that receives the log in chunks
 */
export function importantLines(
  app: string,
  show: (line: string) => void,
  now: () => number = Date.now,
): (text: string) => void {
  let rest = '';
  let last = { line: '', at: -Infinity };
  return (text) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const important = importantPart(line);
      if (!important || (important === last.line && now() - last.at < REPEAT_INTERVAL_MS)) continue;
      last = { line: important, at: now() };
      show(`${app}: ${important}`);
    }
  };
}

function importantPart(line: string): string | undefined {
  if (!line.startsWith('{')) return line.trim() || undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as {
      level?: number;
      msg?: string;
      err?: { message?: string };
    };
    if (level === undefined || level < WARNING) return undefined;
    const text = [msg, err?.message === msg ? undefined : err?.message].filter(Boolean).join(': ');
    return `${level >= ERROR ? 'error' : 'warning'}: ${text}`;
  } catch {
    return line;
  }
}

interface AppCommand {
  name: string;
  /** Path in `dist`. */
  main: string;
  port: number;
  /** True for an app with `/readyz` on an internal port. Other apps are ready when they accept connections. */
  internal: boolean;
  env: NodeJS.ProcessEnv;
  remove?: readonly string[];
}

export interface App {
  name: string;
  process: GuardedProcess;
  internalUrl?: string;
  /** @throws StartError if the app exits or is not ready within 60 s */
  ready(): Promise<void>;
  tail(): Promise<string>;
}

const CHECK_TIMEOUT_MS = 2_000;

export async function startApp(
  app: AppCommand,
  directory: string,
  show: (line: string) => void,
): Promise<App> {
  const { name, port } = app;
  const logs = join(directory, 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const logFile = join(logs, `${name}.log`);
  await rm(logFile, { force: true });
  const internalPort = app.internal ? await freePort() : undefined;
  const main = new URL(`../../${app.main}`, import.meta.url);
  const child = startGuarded({
    name,
    command: process.execPath,
    args: [...process.execArgv, fileURLToPath(main)],
    cwd: process.cwd(),
    env: { ...app.env, PORT: String(port), ...(internalPort ? { INTERNAL_PORT: String(internalPort) } : {}) },
    logFile,
    onOutput: importantLines(name, show),
    signal: 'SIGTERM',
    grace: 3_000,
    remove: app.remove ?? [],
  });
  const tail = async (): Promise<string> => lastLines(await readFile(logFile, 'utf8').catch(() => ''), 15);
  const check = internalPort ? () => checkReady(internalPort) : () => checkAccepts(port);
  return {
    name,
    process: child,
    ...(internalPort && { internalUrl: `http://127.0.0.1:${internalPort}` }),
    tail,
    async ready() {
      const problem = await problemOfStart(child, check);
      if (problem)
        throw new StartError(`${name} did not start (${problem}). The end of ${logFile}:\n${await tail()}`);
    },
  };
}

/** @throws Error if the app is not ready */
async function checkReady(port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, {
    signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`/readyz returned ${answer.status}`);
}

/** @throws Error if nothing accepts connections */
async function checkAccepts(port: number): Promise<void> {
  if (!(await accepts({ host: '127.0.0.1', port }, CHECK_TIMEOUT_MS))) throw new Error('no connection');
}

// Variables that an app gets only if it needs them.
const SECRETS = new Set([
  'DATABASE_URL',
  'REDIS_URL',
  'NATS_URL',
  'AUDIT_NATS_URL',
  'TOKEN_KEYS',
  'ID_TOKEN_KEYS',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'CONSOLE_CLIENT_SECRET',
  'DEVELOPERS_CLIENT_SECRET',
  'SMTP_URL',
]);

/** Returns the commands of the apps. The apps inherit all variables except the secrets. */
export function appCommands(
  settings: Settings,
  account: Account,
  services: BackingServices,
  urls: ProcessUrls,
  runFile: string,
  env: NodeJS.ProcessEnv,
): AppCommand[] {
  const {
    authUrl: AUTH_URL,
    baseUrl: BASE_URL,
    apiUrl: API_URL,
    redirectUri: REDIRECT_URI,
    consoleUrl: CONSOLE_URL,
    developersUrl: DEVELOPERS_URL,
    ports,
  } = settings;
  const common = {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.has(name))),
    NODE_ENV: env['NODE_ENV'] || 'development',
    LOG_LEVEL: env['LOG_LEVEL'] || 'info',
    HOST: '127.0.0.1',
    BASE_URL,
  };
  const nats = { NATS_URL: services.natsUrl, AUDIT_NATS_URL: env['AUDIT_NATS_URL'] };
  const stateful = {
    ...common,
    AUTH_URL,
    API_URL,
    ...nats,
    TOKEN_KEYS: account.tokenKeys,
    OUTSIDE_FETCH_ALLOW: settings.outsideFetchAllow,
  };
  // Operators of the console log in with a password of this service.
  const hasConsole = settings.loginAt === undefined;
  const tokenEnv = {
    ...stateful,
    DATABASE_URL: urls.database.token,
    REDIS_URL: urls.redis.token,
    ID_TOKEN_KEYS: account.idTokenKeys,
    ...(hasConsole && { CONSOLE_URL }),
    DEVELOPERS_URL,
    SMTP_URL: env['SMTP_URL'],
    OPERATOR_MAIL: env['OPERATOR_MAIL'] || account.email,
  };
  const authorizeEnv = {
    ...stateful,
    DATABASE_URL: urls.database.authorize,
    REDIS_URL: urls.redis.authorize,
    ID_TOKEN_KEYS: publicIdTokenKeys(account.idTokenKeys),
  };
  const { TOKEN_KEYS: _, ...withoutKeys } = stateful;
  const consoleEnv = {
    ...withoutKeys,
    DATABASE_URL: urls.database.console,
    REDIS_URL: urls.redis.console,
    CONSOLE_URL,
    CONSOLE_ISSUER: BASE_URL,
    CONSOLE_CLIENT_ID: account.consoleClientId,
    CONSOLE_CLIENT_SECRET: account.consoleClientSecret,
  };
  const { OUTSIDE_FETCH_ALLOW: _allowed, ...withoutFetching } = withoutKeys;
  const developersEnv = {
    ...withoutFetching,
    DATABASE_URL: urls.database.developers,
    REDIS_URL: urls.redis.developers,
    DEVELOPERS_URL,
    ...(hasConsole && { CONSOLE_URL }),
    DEVELOPERS_CLIENT_ID: account.developersClientId,
    DEVELOPERS_CLIENT_SECRET: account.developersClientSecret,
  };
  const client = { CLIENT_ID: account.clientId, CLIENT_SECRET: account.clientSecret, REDIRECT_URI };
  const app = (name: string) => ({ name, main: `apps/${name}.cjs`, internal: true });
  return [
    // The guard of this app also deletes the run file if npm start is killed.
    { ...app('authorize'), port: ports.AUTHORIZE_PORT, env: authorizeEnv, remove: [runFile] },
    { ...app('token'), port: ports.TOKEN_PORT, env: tokenEnv },
    { ...app('resource'), port: ports.RESOURCE_PORT, env: { ...common, API_URL, ...nats } },
    ...(hasConsole ? [{ ...app('console'), port: ports.CONSOLE_PORT, env: consoleEnv }] : []),
    { ...app('developers'), port: ports.DEVELOPERS_PORT, env: developersEnv },
    {
      name: 'demo-app',
      main: 'local/demo-app/main.js',
      internal: false,
      port: ports.DEMO_PORT,
      env: { ...common, ...client, AUTH_URL, API_URL },
    },
  ];
}
