import { randomBytes } from 'node:crypto';
import { appendFile, chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withDatabase } from '../support/test-database.js';
import { freePort } from '#local/servers/free-port.js';
import { type GuardedProcess, startGuarded } from '#local/servers/guarded-process.js';
import { initialize, serverArguments } from '#local/servers/postgres.js';
import { runCommand, unprivilegedUser } from '#local/servers/run-command.js';
import { serverEnvironment } from '#local/servers/find-server.js';
import { temporaryFolder } from '#local/servers/service-folder.js';
import { signalTree } from '../support/process-tree.js';
import { findTool } from '../support/tool.js';
import { until } from '../support/until.js';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  wal_level: 'replica',
  max_connections: '100',
  // A commit must reach the standby, but need not reach the disk.
  fsync: 'off',
  full_page_writes: 'off',
  timezone: 'GMT',
};

interface Server {
  readonly port: number;
  readonly process: GuardedProcess;
}

/** A primary and a standby, which receives every commit before the commit is confirmed. */
export class PostgresPair {
  private constructor(
    private readonly folder: string,
    private readonly password: string,
    private readonly primary: Server,
    private readonly standby: Server,
  ) {}

  static async start(): Promise<PostgresPair> {
    const user = await unprivilegedUser();
    const folder = await temporaryFolder('postgres-pair', user);
    await chmod(folder, 0o711);
    const password = randomBytes(16).toString('hex');
    const program = await findTool('postgres');
    const env = serverEnvironment(program.libraryPath);
    const parents = ['primary', 'standby'].map((name) => join(folder, name));
    for (const parent of parents) {
      await mkdir(parent);
      await chmod(parent, 0o711);
    }
    const [primaryData = '', standbyData = ''] = parents.map((parent) => join(parent, 'data'));
    await initialize(program, dirname(primaryData), password, user);
    // The standby starts with a copy of the stopped server's folder.
    const copy = await runCommand('cp', ['-a', primaryData, standbyData]);
    if (copy.code !== 0) throw new Error(`the standby could not be created: ${copy.stderr}`);

    const [primaryPort, standbyPort] = [await freePort(), await freePort()];
    const follow = `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=postgres password=${password} application_name=standby'\n`;
    await appendFile(join(standbyData, 'postgresql.auto.conf'), follow);
    await writeFile(join(standbyData, 'standby.signal'), '');
    if (user) await chown(join(standbyData, 'standby.signal'), user.uid, user.gid);

    const run = (data: string, port: number, settings: Record<string, string>): Server => ({
      port,
      process: startGuarded({
        name: `PostgreSQL ${port}`,
        command: program.command,
        args: serverArguments(data, { ...SETTINGS, ...settings, port }),
        cwd: data,
        env,
        user,
        logFile: join(folder, `${port}.log`),
        signal: 'SIGQUIT',
        grace: 5_000,
        signalOnDeath: 'SIGQUIT',
      }),
    });
    const pair = new PostgresPair(
      folder,
      password,
      run(primaryData, primaryPort, { synchronous_standby_names: 'standby' }),
      run(standbyData, standbyPort, {}),
    );
    try {
      await pair.inStep();
    } catch (error) {
      await pair.stop();
      throw error;
    }
    return pair;
  }

  /** Lists the standby first, so that clients must search for the primary. */
  get url(): string {
    const servers = [this.standby, this.primary].map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgres://postgres:${this.password}@${servers}/postgres?target_session_attrs=read-write`;
  }

  /** URL of the first primary; valid until that server is killed. */
  get primaryUrl(): string {
    return this.urlOf(this.primary);
  }

  get standbyUrl(): string {
    return this.urlOf(this.standby);
  }

  /** Ends the primary without a message to its clients, like a crash. */
  async killPrimary(): Promise<void> {
    process.kill(-this.primary.process.pid, 'SIGKILL');
    await this.primary.process.ended;
  }

  /** Stops the primary with SIGSTOP, so that connections stay open without responses. */
  silencePrimary(): Promise<void> {
    return signalTree(this.primary.process.pid, 'SIGSTOP');
  }

  wakePrimary(): Promise<void> {
    return signalTree(this.primary.process.pid, 'SIGCONT');
  }

  async promote(): Promise<void> {
    await withDatabase(this.standbyUrl, (standby) => standby.query('SELECT pg_promote(true, 20)'));
  }

  async stop(): Promise<void> {
    await Promise.all([this.primary, this.standby].map(({ process }) => process.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  private urlOf({ port }: Server): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${port}/postgres`;
  }

  private inStep(): Promise<void> {
    return until('the standby is in step', 30_000, () =>
      withDatabase(this.primaryUrl, async (primary) => {
        const { rowCount } = await primary.query(
          "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'",
        );
        return rowCount === 1;
      }),
    );
  }
}
