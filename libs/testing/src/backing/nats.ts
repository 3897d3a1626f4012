import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect as connectNats } from '@nats-io/transport-node';
import { startGuarded } from './guarded-process.js';
import { keptSecret } from './kept-secret.js';
import { serverEnvironment } from './server-environment.js';
import { temporaryFolder } from './service-folder.js';
import type { ServiceOptions } from './service-options.js';
import { type BackingService, startService } from './started-service.js';

/** Accounts of a thrown-away NATS: subjects of one are never seen by another, so that each test has its own. */
export const NATS_ACCOUNTS = 512;

/**
 * Starts a private NATS server with a generated password. Persistent, the URL names its one user. Thrown away, the server
 * has the users `account0` … `account511`, each alone in an account, all with that password; the URL names `account0`.
 */
export async function startNats(options: ServiceOptions): Promise<BackingService> {
  const [server] = await options.find('nats-server', options.directory);
  if (!server) throw new Error('no nats-server was found');
  const folder = options.persistent
    ? join(options.directory, 'nats')
    : await temporaryFolder('nats', undefined);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700);
  const password = await keptSecret(join(folder, 'password'));
  const configuration = join(folder, 'nats.conf');
  const logFile = join(folder, 'nats.log');
  const user = options.persistent ? 'oauth' : 'account0';
  return startService('NATS', logFile, async (port) => {
    const users = options.persistent ? oneUser(user, password) : accounts(password);
    await writeFile(configuration, `host: "127.0.0.1"\nport: ${port}\n${users}`, { mode: 0o600 });
    const process = startGuarded({
      name: 'NATS',
      command: server.command,
      args: ['-c', configuration],
      cwd: folder,
      env: serverEnvironment(server.libraryPath),
      logFile,
      signal: 'SIGTERM',
      grace: 3_000,
      remove: options.persistent ? [] : [folder],
    });
    const url = `nats://${user}:${password}@127.0.0.1:${port}`;
    return { url, process, connect: () => connect(url) };
  });
}

function oneUser(user: string, password: string): string {
  return `authorization { user: "${user}", password: "${password}" }\n`;
}

function accounts(password: string): string {
  const all = Array.from(
    { length: NATS_ACCOUNTS },
    (_, n) => `  ACCOUNT${n} { users: [ { user: "account${n}", password: "${password}" } ] }`,
  );
  return `accounts {\n${all.join('\n')}\n}\n`;
}

async function connect(url: string): Promise<void> {
  const { protocol, host, username, password } = new URL(url);
  const connection = await connectNats({
    servers: `${protocol}//${host}`,
    user: username,
    pass: password,
    timeout: 2_000,
    reconnect: false,
  });
  await connection.close();
}
