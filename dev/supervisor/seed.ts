import { createHash } from 'node:crypto';
import { verifyClientSecret } from '#directory/client-secret.js';
import { ClientStore } from '#directory/client.store.js';
import { connect } from '#directory/connect.js';
import { directoryDataSource } from '#directory/data-source.js';
import { hashPassword, verifyPassword } from '#directory/password.js';
import { UserStore } from '#directory/user.store.js';
import type { Account } from './demo-account.js';
import type { Settings } from './settings.js';
import { StartError } from './start.error.js';

/**
 * Registers the demo application and the demo user, unless they are there.
 *
 * @throws StartError when they are there with other credentials than ours
 */
export async function seed(databaseUrl: string, account: Account, settings: Settings): Promise<void> {
  const source = await connect(directoryDataSource(databaseUrl), databaseUrl, 5_000);
  try {
    await seedClient(new ClientStore(source), account, settings);
    await seedUser(new UserStore(source), account, settings);
  } finally {
    await source.destroy();
  }
}

async function seedClient(clients: ClientStore, account: Account, settings: Settings): Promise<void> {
  const { clientId, clientSecret } = account;
  const found = await clients.find(clientId);
  if (!found) {
    await clients.create({
      clientId,
      name: 'Calendar Connect',
      type: 'confidential',
      redirectUris: [settings.redirectUri],
      secretHash: createHash('sha256').update(clientSecret).digest(),
    });
    return;
  }
  const hashes = found.secrets.map(({ hash }) => hash);
  if (!verifyClientSecret(clientSecret, hashes)) throw conflict('demo application', settings);
}

async function seedUser(users: UserStore, account: Account, settings: Settings): Promise<void> {
  const { email, password } = account;
  const found = await users.findByLogin(email);
  if (!found) {
    const passwordHash = await hashPassword(password);
    await users.create({
      email,
      username: 'ada',
      name: 'Ada Lovelace',
      timeZone: 'Europe/London',
      passwordHash,
    });
    return;
  }
  if (!(await verifyPassword(password, found.passwordHash))) throw conflict('demo user', settings);
}

function conflict(what: string, { directory }: Settings): StartError {
  return new StartError(
    `the database has a ${what} whose credentials are not those kept in ${directory}: ` +
      'begin anew by removing that folder, or set DATABASE_URL to an empty database',
  );
}
