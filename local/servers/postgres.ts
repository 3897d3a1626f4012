import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { type FoundServer, serverEnvironment } from './find-server.js';
import { signalProcess, startGuarded } from './guarded-process.js';
import { exists, keptFolder, keptSecret, temporaryFolder } from './service-folder.js';
import { runCommand, type SystemUser, unprivilegedUser } from './run-command.js';
import { type BackingService, lastLines, type ServiceOptions, startService } from './started-service.js';
import { setTimeout as sleep } from 'node:timers/promises';

const COMMON = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  timezone: 'GMT',
  log_timezone: 'GMT',
  jit: 'off',
};

// Settings for temporary data, which need not reach the disk.
const THROWN_AWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  // Each Jest worker starts several processes with connection pools.
  max_connections: '1000',
};

const MARKER = join('postgres', 'data');

/** Returns a folder that PostgreSQL's user can reach. */
export function postgresFolder(directory: string, user: SystemUser | undefined): Promise<string> {
  return keptFolder(directory, user, MARKER);
}

/** Starts PostgreSQL. The URL contains the superuser and the database `postgres`. */
export async function startPostgres(options: ServiceOptions): Promise<BackingService> {
  const user = await unprivilegedUser();
  const kept = options.persistent ? await postgresFolder(options.directory, user) : undefined;
  const folder = kept ? join(kept, 'postgres') : await temporaryFolder('postgres', user);
  await mkdir(folder, { recursive: true });
  // PostgreSQL's user may traverse the folder; only the current user may change it.
  await chmod(folder, 0o711);

  const packages = kept ?? (await postgresFolder(options.directory, user));
  const server = await sameMajor(await options.find('postgres', packages), join(folder, 'data'));
  const password = await keptSecret(join(folder, 'password'));
  const data = join(folder, 'data');
  if (!(await exists(data)))
    await initialize(server, folder, password, user, options.persistent ? undefined : 'md5');
  await clearStalePid(data);

  const settings = { ...COMMON, ...(options.persistent ? {} : THROWN_AWAY) };
  const logFile = join(folder, 'postgres.log');
  return startService('PostgreSQL', logFile, async (port) => {
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const process = startGuarded({
      name: 'PostgreSQL',
      command: server.command,
      args: serverArguments(data, { ...settings, port }),
      cwd: data,
      env: serverEnvironment(server.libraryPath),
      user,
      logFile,
      // SIGINT is a fast shutdown: it ends open sessions and writes a checkpoint.
      signal: options.persistent ? 'SIGINT' : 'SIGQUIT',
      grace: 5_000,
      // SIGQUIT is an immediate shutdown: it also ends session processes, which outlive a postmaster that gets SIGKILL.
      signalOnDeath: 'SIGQUIT',
      remove: options.persistent ? [] : [folder],
    });
    return { url, process, connect: () => connect(url) };
  });
}

export function serverArguments(data: string, settings: Readonly<Record<string, string | number>>): string[] {
  return ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/**
 * Creates the data folder `<folder>/data`.
 * @param auth md5 saves 4 ms of CPU time per connection; a test run opens thousands of connections
 */
export async function initialize(
  server: FoundServer,
  folder: string,
  password: string,
  user: SystemUser | undefined,
  auth: 'scram-sha-256' | 'md5' = 'scram-sha-256',
): Promise<void> {
  // A draft folder is renamed when it is complete, so that a killed start leaves no incomplete data folder.
  const draft = await mkdtemp(join(folder, 'draft-'));
  const data = join(draft, 'data');
  const passwordFile = join(draft, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) await Promise.all([draft, passwordFile].map((path) => chown(path, user.uid, user.gid)));
  const args = ['-D', data, '--username=postgres', `--pwfile=${passwordFile}`, `--auth=${auth}`];
  args.push('--encoding=UTF8', '--locale=C', '--no-sync');
  const env = serverEnvironment(server.libraryPath);
  const result = await runCommand(join(dirname(server.command), 'initdb'), args, { user, env, cwd: draft });
  if (result.code !== 0) {
    throw new Error(`PostgreSQL's initdb failed:\n${lastLines(result.stdout + result.stderr, 12)}`);
  }
  await rename(data, join(folder, 'data'));
  await rm(draft, { recursive: true });
}

async function sameMajor(servers: FoundServer[], data: string): Promise<FoundServer> {
  const required = (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  const server = servers.find(({ version }) => !required || version.includes(` ${required}.`));
  if (server) return server;
  throw new Error(
    `${data} belongs to PostgreSQL ${required}, and this machine has ${servers.map(({ version }) => version).join(', ')}: ` +
      `install PostgreSQL ${required}, or delete that folder to start with new data`,
  );
}

async function connect(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // A starting server may close the connection after an error that `connect` has already reported.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Deletes the postmaster.pid of a killed server if another program now has the process id in the file, because
 * PostgreSQL might refuse to start. Stops a postmaster that still uses this folder, in at most 20 seconds.
 */
async function clearStalePid(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;
  for (let tries = 0; tries < 200; tries += 1) {
    const args = await commandLine(pid);
    if (args === '') return;
    if (!args.includes(data)) {
      await rm(file, { force: true });
      return;
    }
    // SIGQUIT is an immediate shutdown; the next start recovers from the log.
    if (tries === 0) signalProcess(pid, 'SIGQUIT');
    if (tries === 150) signalProcess(pid, 'SIGKILL');
    await sleep(100);
  }
}

/** Returns the command line of a process; empty if no such process runs. */
async function commandLine(pid: number): Promise<string> {
  const listed = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (listed !== undefined) return listed.replaceAll('\0', ' ').trim();
  return (await runCommand('ps', ['-ww', '-o', 'args=', '-p', String(pid)])).stdout.trim();
}
