import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { type FoundServer, serverEnvironment } from './find-server.js';
import { freePort } from './free-port.js';
import { type GuardedProcess, startGuarded } from './guarded-process.js';
import { keptSecret, temporaryFolder } from './service-folder.js';

export type BackingServer = Extract<FoundServer['name'], 'postgres' | 'redis-server' | 'nats-server'>;

export interface ServiceOptions {
  directory: string;
  /** False to use a temporary folder, and settings that are fast but may lose data. */
  persistent: boolean;
  find(server: BackingServer, folder: string): Promise<FoundServer[]>;
}

const READINESS_DEADLINE_MS = 60_000;
const POLL_MS = 25;
const NOT_READY = `not ready within ${READINESS_DEADLINE_MS / 1_000} s`;

export interface BackingService {
  url: string;
  process: GuardedProcess;
}

/** Started process. `connect` resolves when the server accepts the generated credentials. */
interface Attempt {
  url: string;
  process: GuardedProcess;
  connect(): Promise<void>;
}

/**
 * Retries twice after an early exit, because another program may have taken the port.
 * @throws Error with the end of the log
 */
export async function startService(
  name: string,
  logFile: string,
  attempt: (port: number) => Promise<Attempt>,
): Promise<BackingService> {
  let reason = '';
  const failed: GuardedProcess[] = [];
  const stopFailed = async (): Promise<void> => {
    await Promise.all(failed.map((process) => process.stop()));
  };
  for (let tries = 0; tries < 3; tries += 1) {
    const { url, process, ...checks } = await attempt(await freePort());
    const problem = await problemOfStart(process, () => checks.connect());
    if (problem === undefined) {
      const stop = async (): Promise<void> => void (await Promise.all([process.stop(), stopFailed()]));
      return { url, process: { pid: process.pid, ended: process.ended, stop } };
    }
    reason = problem;
    failed.push(process);
    if (problem === NOT_READY) break;
  }
  const log = await readFile(logFile, 'utf8').catch(() => '');
  await stopFailed();
  throw new Error(`${name} did not start (${reason}). The end of ${logFile}:\n${lastLines(log, 12)}`);
}

/** Polls until `check` resolves. @returns the problem if the process ends, or is not ready within 60 s */
export async function problemOfStart(
  process: GuardedProcess,
  check: () => Promise<void>,
): Promise<string | undefined> {
  const ended = process.ended.then((how) => `it ended: ${how}`);
  const ready = () =>
    check().then(
      () => undefined,
      () => NOT_READY,
    );
  for (const deadline = Date.now() + READINESS_DEADLINE_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const problem = await Promise.race([ended, ready()]);
    if (problem !== NOT_READY) return problem;
  }
  return NOT_READY;
}

export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

export interface ConfiguredServer {
  readonly name: string;
  readonly program: 'nats-server' | 'redis-server';
  /** Name of the server's folder and files. */
  readonly role: string;
  configuration(at: { port: number; password: string; folder: string }): string;
  arguments(file: string): string[];
  url(at: { port: number; password: string }): string;
  /** Rejects if the server does not accept the password. */
  connect(url: string): Promise<void>;
}

/** Starts a server in a folder that only the current user may enter. */
export async function startConfigured(
  server: ConfiguredServer,
  options: ServiceOptions,
): Promise<BackingService> {
  const [found] = await options.find(server.program, options.directory);
  if (!found) throw new Error(`no ${server.program} was found`);
  const folder = options.persistent
    ? join(options.directory, server.role)
    : await temporaryFolder(server.role);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700);
  const password = await keptSecret(join(folder, 'password'));
  // The password is in a file, because every user of the machine can read a command line.
  const file = join(folder, `${server.role}.conf`);
  const logFile = join(folder, `${server.role}.log`);
  return startService(server.name, logFile, async (port) => {
    await writeFile(file, server.configuration({ port, password, folder }), { mode: 0o600 });
    const process = startGuarded({
      name: server.name,
      command: found.command,
      args: server.arguments(file),
      cwd: folder,
      env: serverEnvironment(found.libraryPath),
      logFile,
      signal: 'SIGTERM',
      grace: 3_000,
      remove: options.persistent ? [] : [folder],
    });
    const url = server.url({ port, password });
    return { url, process, connect: () => server.connect(url) };
  });
}
