import { nextOf } from '#error-guide/problems/describe-problem.js';
import type { AdministrationError } from '#platform/validation/administration.error.js';
import { createHash } from 'node:crypto';
import { type INestApplicationContext } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import sharp from 'sharp';
import { DataSource } from 'typeorm';
import { AuditService } from '#audit/operations/audit.service.js';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import { ClientService } from '#clients/operations/client.service.js';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { ResourceServerService } from '#clients/operations/resource-server.service.js';
import { UserService } from '#users/operations/user.service.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { STATUS_SERVICES, statusSubject } from '#messaging/service-status.js';
import { ConsoleInvitationStore } from '#users/operators/console-invitation.store.js';
import type { Isolated } from '#test/support/isolate.js';
import { type Administration, openAdministration } from './support/administration.js';

const ADA: Actor = { name: 'ada@console', channel: 'page', role: 'admin' };
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

  it('records the old and the new value of each changed field of a client, also of a logo', async () => {
    const [name, renamed] = ['Calendar', 'Kalender'];
    const id = await client(name);
    const [uri] = (await clients.find(id)).redirect_uris;
    const added = 'https://other.example.com/callback';
    const logo = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const digest = createHash('sha256').update(logo).digest('hex');
    await done(clients.update(ADA, id, { name: renamed, addRedirectUris: [added], logo }));
    await done(clients.update(ADA, id, { subject: 'pairwise', removeRedirectUris: [added], logo: null }));
    await done(clients.update(ADA, id, { name: renamed }));
    const { events } = await context.get(AuditService).search({ client: id, types: ['client.updated'] });
    expect(events.map(({ changes }) => changes)).toEqual([
      {
        name: { old: name, new: renamed },
        redirect_uris: { old: [uri], new: [uri, added] },
        logo: { old: null, new: digest },
      },
      {
        subject: { old: 'public', new: 'pairwise' },
        sector: { old: null, new: new URL(uri ?? '').host },
        redirect_uris: { old: [uri, added], new: [uri] },
        logo: { old: digest, new: null },
      },
      undefined,
    ]);
  });

  it('records changes without the changes of a concurrent operation', async () => {
    const id = await client();
    const names = ['A', 'B', 'C', 'D'];
    await Promise.all(names.map((name) => done(clients.update(ADA, id, { name }))));
    const { events } = await context.get(AuditService).search({ client: id, types: ['client.updated'] });
    const changes = events.map(({ changes }) => changes?.['name'] as { old: string; new: string });
    expect(changes.map((change) => change.new).toSorted()).toEqual(names);
    // Each value was replaced once, except the last value.
    const { name: last } = await clients.find(id);
    expect(
      changes
        .map(({ old }) => old)
        .filter((old) => names.includes(old))
        .toSorted(),
    ).toEqual(names.filter((name) => name !== last));
  });

  it('records the old and the new state of a disabled and enabled user', async () => {
    const login = await user();
    const { id } = await users.find(login);
    // No token service answers here, so the operation is incomplete.
    for (let times = 0; times < 2; times++)
      await expect(users.disable(ADA, login)).rejects.toMatchObject({ kind: 'incomplete' });
    await done(users.enable(ADA, login));
    const { events } = await context.get(AuditService).search({ user: login });
    const [, ...states] = events;
    expect(states.map(({ user_id: userId, changes }) => [userId, changes])).toEqual([
      [id, { disabled_by: { old: [], new: ['operator'] } }],
      [id, undefined],
      [id, { disabled_by: { old: ['operator'], new: [] } }],
    ]);
  });

  it('records the old and the new role of an operator', async () => {
    const operators = context.get(ConsoleOperatorService);
    const login = await user();
    await done(operators.grant(ADA, { login, role: 'viewer' }));
    await done(operators.grant(ADA, { login, role: 'support' }));
    await done(operators.revoke(ADA, login));
    const { events } = await context.get(AuditService).search({ user: login, types: ['console_operator'] });
    expect(events.map(({ changes }) => changes)).toEqual([
      { role: { old: null, new: 'viewer' } },
      { role: { old: 'viewer', new: 'support' } },
      { role: { old: 'support', new: null } },
    ]);
  });

  it('records nothing if it is refused', async () => {
    const id = await client();
    await expect(clients.update(ADA, id, { redirectUris: ['http://a.example/'] })).rejects.toMatchObject({
      kind: 'invalid',
      problems: [{ id: 'redirect_uri_invalid', path: expect.arrayContaining(['redirectUris']) }],
    });
    expect((await context.get(AuditService).search({ client: id })).events).toHaveLength(1);
  });

  it('names the command that lists existing objects if the object does not exist', async () => {
    const error: unknown = await clients.find('sc_unknown').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'unknown', problems: [{ id: 'client_unknown' }] });
    const [unknown] = (error as AdministrationError).problems;
    expect(unknown && nextOf(unknown)).toMatchObject({ command: ['client', 'list'] });
  });
});

describe('the last admin', () => {
  let operators: ConsoleOperatorService;
  const unconfirmed = { kind: 'unconfirmed', problems: [{ id: 'confirmLastAdmin' }] };

  beforeAll(() => {
    operators = context.get(ConsoleOperatorService);
  });

  const admin = async (): Promise<string> => {
    const login = await user();
    await done(operators.grant(ADA, { login, role: 'admin' }));
    return login;
  };
  const admins = async () =>
    (await operators.list()).filter(({ role, disabled_at: at }) => role === 'admin' && !at);

  it.each<[string, (login: string, confirmed?: boolean) => Promise<unknown>]>([
    ['lose the role', (login, confirmed) => operators.revoke(ADA, login, confirmed)],
    [
      'get another role',
      (login, confirmLastAdmin) => operators.grant(ADA, { login, role: 'viewer', confirmLastAdmin }),
    ],
    ['be disabled', (login, confirmed) => users.disable(ADA, login, {}, confirmed)],
    ['be deleted', (login, confirmed) => users.delete(ADA, login, {}, confirmed)],
  ])('cannot %s without a confirmation, and one of two concurrent admins stays', async (_, remove) => {
    // Without a token service, a completed operation on a user is `incomplete`.
    const settled = (change: Promise<unknown>) =>
      change.catch((error: { kind: string }) =>
        error.kind === 'incomplete' ? undefined : Promise.reject(error),
      );
    const both = [await admin(), await admin()];
    const outcomes = await Promise.allSettled(both.map((login) => settled(remove(login))));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: unconfirmed }]);
    const [last, ...others] = await admins();
    expect(others).toEqual([]);
    await settled(remove(last?.username ?? '', true));
    expect(await admins()).toEqual([]);
  });
});

describe('an invitation', () => {
  let operators: ConsoleOperatorService;
  let invitations: ConsoleInvitationStore;

  beforeAll(() => {
    operators = context.get(ConsoleOperatorService);
    invitations = context.get(ConsoleInvitationStore, { strict: false });
  });

  const roleOf = async (login: string) =>
    (await operators.list()).find(({ username }) => username === login)?.role;
  const accept = async (login: string) => {
    const { id } = await users.find(login);
    await operators.acceptInvitation(ADA, String(id));
    return roleOf(login);
  };

  it('grants its role once, to a user with the verified address', async () => {
    const [login, stranger] = [await user(), await user()];
    await done(operators.invite(ADA, { email: `${login.toUpperCase()}@EXAMPLE.com`, role: 'support' }));
    expect(await accept(stranger)).toBeUndefined();
    expect(await accept(login)).toBe('support');
    expect(await operators.invitations()).toEqual([]);
    await done(operators.revoke(ADA, login));
    expect(await accept(login)).toBeUndefined();
  });

  it('is accepted by only one of concurrent logins', async () => {
    const login = await user();
    await done(operators.invite(ADA, { email: `${login}@example.com`, role: 'viewer' }));
    const { id } = await users.find(login);
    const accepted = await Promise.all([1, 2, 3].map(() => invitations.accept(id)));
    expect(accepted.filter((one) => one !== null)).toMatchObject([{ role: 'viewer' }]);
  });

  it.each<[string, string]>([
    ['has expired', `UPDATE console_invitations SET expires_at = now()`],
    ['is for an address that is not verified', `UPDATE users SET email_verified = false`],
    ['is for a disabled user', `UPDATE users SET operator_disabled_at = now()`],
  ])('grants nothing if it %s', async (_, statement) => {
    const login = await user();
    await done(operators.invite(ADA, { email: `${login}@example.com`, role: 'admin' }));
    const { id } = await users.find(login);
    const where = statement.includes('users') ? ` WHERE id = ${id}` : '';
    await context.get(DataSource, { strict: false }).query(statement + where);
    await operators.acceptInvitation(ADA, String(id));
    expect(await roleOf(login)).toBeUndefined();
  });

  it.each([
    ['has lost the role', 'UPDATE users SET console_role = NULL'],
    ['has a lesser role', `UPDATE users SET console_role = 'support'`],
    ['is disabled', 'UPDATE users SET operator_disabled_at = now()'],
    ['is deleted', 'DELETE FROM users'],
  ])('is not valid if the admin who invited %s', async (_, statement) => {
    const [login, other, admin] = [await user(), await user(), await user()];
    const { id: inviter } = await users.find(admin);
    await done(operators.grant(ADA, { login: admin, role: 'admin' }));
    for (const invited of [login, other])
      await done(operators.invite(ADA, { email: `${invited}@example.com`, role: 'admin' }, inviter));
    expect(await accept(other)).toBe('admin');
    await context.get(DataSource, { strict: false }).query(`${statement} WHERE id = $1`, [inviter]);
    const listed = await operators.invitations();
    expect(listed.filter(({ email }) => email.startsWith(login))).toEqual([]);
    expect(await accept(login)).toBeUndefined();
    await done(operators.revoke(ADA, other, true));
  });

  it('is refused, like a change of a role, while groups of the login provider decide', async () => {
    const [login, invited] = [await user(), await user()];
    administration.settings.consoleGroupsClaim = 'groups';
    const refused = { kind: 'conflict', problems: [{ id: 'roles_of_groups' }] };
    const email = `${invited}@example.com`;
    await expect(operators.invite(ADA, { email, role: 'viewer' })).rejects.toMatchObject(refused);
    await expect(operators.grant(ADA, { login, role: 'viewer' })).rejects.toMatchObject(refused);
    await expect(operators.revoke(ADA, login)).rejects.toMatchObject(refused);
    administration.settings.consoleGroupsClaim = '';
    expect(await roleOf(login)).toBeUndefined();
  });

  it('replaces another one of the same address, also of a concurrent request', async () => {
    const email = `${await user()}@example.com`;
    await Promise.all([1, 2, 3, 4].map(() => done(operators.invite(ADA, { email, role: 'viewer' }))));
    expect((await operators.invitations()).filter((one) => one.email === email)).toHaveLength(1);
    for (const { id } of await operators.invitations()) await done(operators.uninvite(ADA, id));
  });

  it('ends with the role of its user, and is refused for an operator', async () => {
    const login = await user();
    const email = `${login}@example.com`;
    await done(operators.invite(ADA, { email, role: 'viewer' }));
    await done(operators.grant(ADA, { login, role: 'support' }));
    await expect(operators.invite(ADA, { email, role: 'admin' })).rejects.toMatchObject({ kind: 'conflict' });
    await done(operators.revoke(ADA, login));
    expect(await accept(login)).toBeUndefined();
  });

  it('is recorded without the address', async () => {
    const { id } = await done(operators.invite(ADA, { email: 'secret@example.com', role: 'viewer' }));
    await done(operators.uninvite(ADA, id));
    await expect(operators.uninvite(ADA, id)).rejects.toMatchObject({ kind: 'unknown' });
    const { events } = await context.get(AuditService).search({ types: ['console_operator'] });
    expect(events.slice(-2)).toMatchObject([
      { type: 'console_operator.invited', detail: { invitation: id, role: 'viewer' } },
      { type: 'console_operator.uninvited', detail: { invitation: id } },
    ]);
    expect(JSON.stringify(events)).not.toContain('secret@example.com');
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
    const refused = { kind: 'invalid', problems: [{ id: 'cursor_invalid', path: ['cursor'] }] };
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
