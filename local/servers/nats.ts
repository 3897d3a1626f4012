import { connect as connectNats } from '@nats-io/transport-node';
import { startConfigured } from './configured-server.js';
import type { BackingService, ServiceOptions } from './started-service.js';

/** Accounts of a thrown-away NATS: subjects of one are never seen by another, so that each test has its own. */
export const NATS_ACCOUNTS = 512;

/**
 * Starts a private NATS server with a generated password. Persistent, the URL names its one user. Thrown away, the server
 * has the users `account0` … `account511`, each alone in an account, all with that password; the URL names `account0`.
 */
export function startNats(options: ServiceOptions): Promise<BackingService> {
  const user = options.persistent ? 'oauth' : 'account0';
  return startConfigured(
    {
      name: 'NATS',
      program: 'nats-server',
      role: 'nats',
      configuration: ({ port, password, folder }) =>
        [
          `host: "127.0.0.1"\nport: ${port}`,
          // The audit trail is on disk. The limit is what all streams together may reserve, not what they use.
          `jetstream { store_dir: ${JSON.stringify(folder)}, max_memory_store: 0, max_file_store: 1TB }`,
          options.persistent ? oneUser(user, password) : accounts(password),
        ].join('\n'),
      arguments: (file) => ['-c', file],
      url: ({ port, password }) => `nats://${user}:${password}@127.0.0.1:${port}`,
      connect,
    },
    options,
  );
}

function oneUser(user: string, password: string): string {
  return `authorization { user: "${user}", password: "${password}" }\n`;
}

function accounts(password: string): string {
  const all = Array.from(
    { length: NATS_ACCOUNTS },
    (_, n) =>
      `  ACCOUNT${n} { jetstream: enabled, users: [ { user: "account${n}", password: "${password}" } ] }`,
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
