import { type INestApplicationContext } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import { AuditService } from '#administration/audit/audit.service.js';
import { ClientSecretService } from '#administration/client/client-secret.service.js';
import { ClientService } from '#administration/client/client.service.js';
import type { Actor, Change } from '#administration/operation.js';
import { ResourceServerService } from '#administration/resource-server/resource-server.service.js';
import { UserService } from '#administration/user/user.service.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { STATUS_SERVICES, statusSubject } from '#messaging/service-status.js';
import type { Isolated } from '#test/support/isolate.js';
import { type Administration, openAdministration } from '../support/administration.js';

const ADA: Actor = { name: 'ada@console', channel: 'page' };
let administration: Administration;
let services: Isolated;
let context: INestApplicationContext;
let clients: ClientService;
let secrets: ClientSecretService;
let users: UserService;

beforeAll(async () => {
  administration = await openAdministration();
  ({ services, context } = administration);
  clients = context.get(ClientService);
  secrets = context.get(ClientSecretService);
  users = context.get(UserService);
});

afterAll(() => administration.close());

/** Waits until a change is in the audit trail. */
async function done<T>(change: Promise<Change<T>>): Promise<T> {
  const { result, announced } = await change;
  expect(await announced).toEqual([]);
  return result;
}

let made = 0;

async function client(name = `Client ${(made += 1)}`): Promise<string> {
  const redirectUris = [`https://app${made}.example.com/callback`];
  return (await done(clients.create(ADA, { name, redirectUris }))).client_id;
}

async function user(): Promise<string> {
  const username = `user${(made += 1)}`;
  await done(users.create(ADA, { username, email: `${username}@example.com`, name: 'A' }));
  return username;
}

describe('an operation', () => {
  it('records the operator, the channel and the change in the audit trail', async () => {
    const id = await client();
    const { events } = await context.get(AuditService).search({ client: id });
    expect(events).toMatchObject([
      {
        type: 'client.created',
        service: 'operator',
        operator: 'ada@console',
        channel: 'page',
        client_id: id,
      },
    ]);
  });

  it('records nothing if it is refused', async () => {
    const id = await client();
    await expect(clients.update(ADA, id, { redirectUris: ['http://a.example/'] })).rejects.toMatchObject({
      kind: 'invalid',
      problems: [{ id: 'redirect_uri_invalid', field: 'redirectUris' }],
    });
    expect((await context.get(AuditService).search({ client: id })).events).toHaveLength(1);
  });

  it('names the command that lists existing objects if the object does not exist', async () => {
    await expect(clients.find('sc_unknown')).rejects.toMatchObject({
      kind: 'unknown',
      problems: [{ id: 'client_unknown', next: { command: ['client', 'list'] } }],
    });
  });
});

describe('an expected version', () => {
  const outdated = { kind: 'outdated', problems: [{ id: 'version_outdated' }] };

  it.each<[string, (id: string, version: number) => Promise<Change<unknown>>]>([
    ['update', (id, version) => clients.update(ADA, id, { name: 'New', expectedVersion: version })],
    ['disable', (id, version) => clients.disable(ADA, id, { version })],
    ['rotate a secret of', (id, version) => secrets.rotate(ADA, id, { version })],
    [
      'revoke a secret of',
      async (id, version) => {
        const [secret] = (await secrets.list(id)).secrets;
        return secrets.revoke(ADA, id, secret?.id ?? '', true, { version });
      },
    ],
  ])('permits only one of two concurrent operations to %s a client', async (_, change) => {
    const id = await client();
    const { version } = await clients.find(id);
    const outcomes = await Promise.allSettled([change(id, version), change(id, version)]);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: outdated }]);
    expect((await clients.find(id)).version).toBe(version + 1);
  });

  it('prevents the deletion of a client with a newer version', async () => {
    const id = await client();
    const { version } = await clients.find(id);
    await done(clients.disable(ADA, id));
    await expect(clients.delete(ADA, id, { version })).rejects.toMatchObject(outdated);
    expect(await clients.find(id)).toMatchObject({ version: version + 1 });
  });

  it.each<[string, (login: string, version: number) => Promise<Change<unknown>>]>([
    ['update', (login, version) => users.update(ADA, login, { locale: 'de' }, { version })],
    ['set the password of', (login, version) => users.setPassword(ADA, login, {}, { version })],
  ])('permits only one of two concurrent operations to %s a user', async (_, change) => {
    const login = await user();
    const { version } = await users.find(login);
    const outcomes = await Promise.allSettled([change(login, version), change(login, version)]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: outdated }]);
    expect((await users.find(login)).version).toBe(version + 1);
  });

  it('prevents disabling, enabling and deleting a user with a newer version', async () => {
    const login = await user();
    const { version } = await users.find(login);
    await done(users.update(ADA, login, { locale: 'fr' }));
    await expect(users.disable(ADA, login, { version })).rejects.toMatchObject(outdated);
    await expect(users.enable(ADA, login, false, { version })).rejects.toMatchObject(outdated);
    await expect(users.delete(ADA, login, { version })).rejects.toMatchObject(outdated);
    expect(await users.find(login)).toMatchObject({ disabled_at: null, version: version + 1 });
  });

  it('prevents the revocation of a resource server with a different version', async () => {
    const servers = context.get(ResourceServerService);
    const { id } = await done(servers.create(ADA, { name: 'API' }));
    await expect(servers.revoke(ADA, id, { version: 2 })).rejects.toMatchObject(outdated);
    expect(await done(servers.revoke(ADA, id, { version: 1 }))).toEqual({ id, revoked: true });
  });
});

describe('a list of clients', () => {
  it('contains every match once in its pages, newest first', async () => {
    const name = 'Paged';
    const ids = [];
    for (let at = 0; at < 5; at++) ids.push(await client(name));
    const found: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await clients.list({ search: '  PAGED ', limit: 2, cursor });
      expect(page.items.length).toBeLessThanOrEqual(2);
      found.push(...page.items.map(({ client_id: id }) => id));
      cursor = page.next;
    }
    expect(found).toEqual(ids.toReversed());
  });

  it.each([['%'], ['app_.example']])('treats %j as literal text', async (search) => {
    expect(await clients.list({ search })).toEqual({ items: [], next: null, previous: null });
  });

  it.each([['zzz'], [''], ['a1.sc_é'], ['c1.sc_a']])('rejects %j, which is not a cursor', async (cursor) => {
    const refused = { kind: 'invalid', problems: [{ id: 'cursor_invalid', field: 'cursor' }] };
    await expect(clients.list({ cursor })).rejects.toMatchObject(refused);
  });

  it('rejects a NUL character, which PostgreSQL cannot store', async () => {
    await expect(clients.list({ search: '\0' })).rejects.toMatchObject({ kind: 'invalid' });
  });
});

it('the handover text contains the shortest times of all token processes, without asking other services', async () => {
  const nats = await connect(natsOptions(services.natsUrl, 'operations test'));
  const queried: string[] = [];
  const time = new Date().toISOString();
  for (const service of STATUS_SERVICES)
    nats.subscribe(statusSubject(service), {
      callback: (_, message) => {
        queried.push(service);
        for (const CODE_LIFETIME of [48, 47]) {
          const settings = { CODE_LIFETIME, RETRY_WINDOW: 11 };
          const instance = `host:${CODE_LIFETIME}`;
          const status = { service, instance, version: '1', started_at: time, time, settings };
          message.respond(JSON.stringify(status));
        }
      },
    });
  await nats.flush();
  const { markdown, warnings } = await clients.handover(await client(), {});
  await nats.close();
  expect(warnings).toEqual([]);
  expect(markdown).toContain('within 47 seconds');
  expect(queried).toEqual(['token']);
});
