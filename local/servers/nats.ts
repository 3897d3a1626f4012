import { connect as connectNats } from '@nats-io/transport-node';
import { type BackingService, type ServiceOptions, startConfigured } from './started-service.js';

/** Number of accounts. Each isolated test uses one, because accounts do not share subjects. */
export const NATS_ACCOUNTS = 512;

/**
 * Starts NATS. A temporary server has users `account0` … `account511` in separate accounts, with one password.
 * The URL contains `account0`.
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
          // The audit trail is on disk. The limit applies to the space that streams reserve, not to the used space.
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
