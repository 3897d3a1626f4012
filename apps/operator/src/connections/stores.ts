import { ClientRegistrationStore } from '#database/client/client-registration.store.js';
import { ClientSecretStore } from '#database/client/client-secret.store.js';
import { ClientTransferStore } from '#database/client/client-transfer.store.js';
import { ClientStore } from '#database/client/client.store.js';
import { LogoutRecipientStore } from '#database/client/logout-recipient.store.js';
import { GrantAdministrationStore } from '#database/grant/grant-administration.store.js';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { connect, databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { DatabaseInspection } from '#database/connection/database-inspection.js';
import { ResourceServerStore } from '#database/resource-server/resource-server.store.js';
import { TokenKeyStore } from '#database/token-key/token-key.store.js';
import { ExternalUserStore } from '#database/user/external-user.store.js';
import { UserAccountStore } from '#database/user/user-account.store.js';
import { UserStore } from '#database/user/user.store.js';

/** Longer than the limit of a request: a failed command is not retried, and may run far from the database. */
const LIMITS = { ...requestLimits(5_000), poolSize: 2 };

export type Stores = Awaited<ReturnType<typeof openStores>>;

export async function openStores(databaseUrl: string, schema: string, retryForMs: number) {
  const database = databaseDataSource(databaseUrl, LIMITS, schema);
  await connect(database, databaseUrl, retryForMs);
  return {
    clients: new ClientStore(database),
    registrations: new ClientRegistrationStore(database),
    transfers: new ClientTransferStore(database),
    secrets: new ClientSecretStore(database),
    recipients: new LogoutRecipientStore(database),
    resourceServers: new ResourceServerStore(database),
    users: new UserStore(database),
    accounts: new UserAccountStore(database),
    external: new ExternalUserStore(database),
    grants: new GrantAdministrationStore(database),
    records: new GrantRecordStore(database),
    tokenKeys: new TokenKeyStore(database),
    inspection: new DatabaseInspection(database, databaseUrl),
    close: () => database.destroy(),
  };
}
