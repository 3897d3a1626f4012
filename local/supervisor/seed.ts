import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { matchClientSecret } from '#oauth/oauth-client.js';
import { OPENID_SCOPES } from '#oauth/openid/openid-scopes.js';
import { parseScopes } from '#scopes/scope-file.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { ClientMemberStore } from '#clients/owners/client-member.store.js';
import { ClientRequestStore } from '#clients/requests/client-request.store.js';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { ClientStore } from '#clients/client.store.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { connect, databaseDataSource, REQUEST_LIMITS } from '#database/data-source.js';
import { pendingMigrations } from '#database/migrate.js';
import { hashPassword, verifyPassword } from '#users/password.js';
import { UserStore } from '#users/user.store.js';
import { type Account, type Settings, StartError } from './settings.js';

/**
 * Creates the demo application with its event stream, the clients of the console and the portal, and the demo user, who is
 * an admin of the console and requests an application. The demo
 * application always has the scopes of OpenID Connect and the default scopes, which a request without `scope` gets.
 * @throws StartError if the application or user exists with other credentials, or for an invalid file of scopes
 */
export async function seed(databaseUrl: string, account: Account, settings: Settings): Promise<void> {
  const scopes = demoScopes(settings);
  await withStores(databaseUrl, settings, async (stores) => {
    const { clients, users, registrations, operators, streams } = stores;
    if (await hasClient(clients, account, settings)) {
      await registrations.update(account.clientId, (current) => ({ ...current, scopes }));
    } else {
      await clients.create({
        clientId: account.clientId,
        name: 'Calendar Connect',
        type: 'confidential',
        scopes,
        redirectUris: [settings.redirectUri],
        secretHash: createHash('sha256').update(account.clientSecret).digest(),
      });
    }
    // Without a header, because only the token app can encrypt it.
    await streams.register(account.clientId, `${new URL(settings.redirectUri).origin}/events`);
    await seedLogin(clients, settings.consoleUrl, {
      clientId: account.consoleClientId,
      secret: account.consoleClientSecret,
      name: 'Console',
    });
    await seedLogin(clients, settings.developersUrl, {
      clientId: account.developersClientId,
      secret: account.developersClientSecret,
      name: 'Developers',
      developerPortal: true,
    });
    if (!(await hasUser(users, account, settings))) {
      const { id } = await users.create({
        email: account.email,
        username: 'ada',
        name: 'Ada Lovelace',
        timeZone: 'Europe/London',
        passwordHash: await hashPassword(account.password),
      });
      await operators.setRole(id, 'admin');
      await seedRequest(stores, id, scopes[0] ?? 'openid');
    }
  });
}

/** Lists pending migrations and missing demo parts. @throws StartError if a part exists with other credentials */
export async function missingSetup(
  databaseUrl: string,
  account: Account,
  settings: Settings,
): Promise<string[]> {
  const seeds = ['the demo application', 'the demo user'];
  const pending = await pendingMigrations(databaseUrl, { schema: settings.schema });
  if (pending.length > 0) return [`${pending.length} migrations`, ...seeds];
  let missing: string[] = [];
  await withStores(databaseUrl, settings, async ({ clients, users }) => {
    const [client, user] = [
      await hasClient(clients, account, settings),
      await hasUser(users, account, settings),
    ];
    missing = seeds.filter((_, index) => ![client, user][index]);
  });
  return missing;
}

function demoScopes({ scopesFile }: Settings): readonly string[] {
  try {
    const { defaults } = parseScopes(readFileSync(scopesFile), { apiUrl: '', apis: null });
    return [...new Set([...defaults, ...OPENID_SCOPES.map(({ name }) => name)])];
  } catch (cause) {
    throw new StartError(`SCOPES_FILE ${scopesFile}: ${(cause as Error).message}`, { cause });
  }
}

interface Stores {
  readonly clients: ClientStore;
  readonly users: UserStore;
  readonly registrations: ClientRegistrationStore;
  readonly operators: ConsoleOperatorStore;
  readonly streams: EventStreamStore;
  readonly requests: ClientRequestStore;
  readonly members: ClientMemberStore;
}

async function withStores(
  databaseUrl: string,
  { schema }: Settings,
  work: (stores: Stores) => Promise<void>,
): Promise<void> {
  const source = await connect(databaseDataSource(databaseUrl, REQUEST_LIMITS, schema), databaseUrl, 5_000);
  try {
    const [clients, registrations] = [new ClientStore(source), new ClientRegistrationStore(source)];
    await work({
      clients,
      users: new UserStore(source),
      registrations,
      operators: new ConsoleOperatorStore(source),
      streams: new EventStreamStore(source),
      requests: new ClientRequestStore(source, clients, registrations),
      members: new ClientMemberStore(source),
    });
  } finally {
    await source.destroy();
  }
}

/** Submits a request of the user, which waits for the review. */
async function seedRequest(
  { requests, members }: Pick<Stores, 'requests' | 'members'>,
  userId: number,
  scope: string,
): Promise<void> {
  const registration = {
    name: 'Room Finder',
    redirectUris: ['https://rooms.example.com/callback'],
    scopes: [scope],
  };
  const links = {
    clientUri: 'https://rooms.example.com',
    policyUri: 'https://rooms.example.com/privacy',
    contacts: ['help@rooms.example.com'],
  };
  const draft = await requests.createDraft(userId, {
    ...registration,
    ...links,
    purpose: 'Finds a free room for each meeting.',
    termsUri: null,
    application: 'browser',
    reasons: { [scope]: 'Shows who has booked a room.' },
  });
  const client = { ...registration, links, type: 'public' } as const;
  const { created } = await requests.submit(userId, draft, client, () => {
    throw new Error('the application is new');
  });
  if (created) await members.addOwner(created.clientId, userId, 'npm start');
}

interface LoginClient {
  readonly clientId: string;
  readonly secret: string;
  readonly name: string;
  readonly developerPortal?: true;
}

/** Creates the client by which users log in to an app at this URL. */
async function seedLogin(
  clients: ClientStore,
  url: string,
  { clientId, secret, ...client }: LoginClient,
): Promise<void> {
  if (await clients.find(clientId)) return;
  await clients.create({
    ...client,
    clientId,
    type: 'confidential',
    scopes: OPENID_SCOPES.map(({ name }) => name),
    redirectUris: [`${url}/login/callback`],
    postLogoutRedirectUris: [`${url}/logged-out`],
    backchannelLogoutUri: null,
    firstParty: true,
    secretHash: createHash('sha256').update(secret).digest(),
  });
}

async function hasClient(clients: ClientStore, account: Account, settings: Settings): Promise<boolean> {
  const found = await clients.findWithHashes(account.clientId);
  if (found && matchClientSecret(account.clientSecret, found.secrets) === null)
    throw conflict('demo application', settings);
  return Boolean(found);
}

async function hasUser(users: UserStore, account: Account, settings: Settings): Promise<boolean> {
  const { user, passwordHash } = await users.credentialsOf(account.email);
  if (user && !(await verifyPassword(account.password, passwordHash))) throw conflict('demo user', settings);
  return user !== null;
}

function conflict(what: string, { directory }: Settings): StartError {
  return new StartError(
    `the ${what} in the database has other credentials than ${directory}: ` +
      'delete that folder, or set DATABASE_URL to an empty database',
  );
}
