import { hashPassword, verifyPassword } from '#users/password.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { UserStore } from '#users/user.store.js';
import { blocked } from '#test/support/until.js';
import { useGrants } from '../../grants/test/records/use-grants.js';

const ROUNDS = 15;

const fixture = useGrants();
let accounts: UserAccountStore;
let users: UserStore;

beforeAll(() => {
  accounts = new UserAccountStore(fixture.database.dataSource);
  users = new UserStore(fixture.database.dataSource);
});

async function granted() {
  const { userId, clientId, otherClientId, grants } = fixture;
  const live = [await fixture.grant(userId, clientId), await fixture.grant(userId, otherClientId)];
  const expired = await fixture.grant(userId, clientId, { days: -1 });
  // Expires the grant afterwards, because recording a grant deletes expired grants.
  await fixture.database.dataSource.query(
    `UPDATE grants SET expires_at = now() - interval '1 hour' WHERE id = $1`,
    [live[1]],
  );
  const before = await fixture.grant(await fixture.user(), clientId);
  const other = await fixture.grant(await fixture.user(), clientId);
  await grants.revoke(before);
  return { live, expired, other };
}

const liveOf = (userId: number) =>
  fixture.database.dataSource.query<unknown[]>(
    'SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL',
    [userId],
  );

describe('finding a user by id', () => {
  it('ignores another user whose username is `id:` and the id', async () => {
    const { userId, database } = fixture;
    const login = `id:${userId}`;
    await database.dataSource.query(
      'UPDATE users SET username = $2, external_id = $2, issuer = $3, password_hash = NULL WHERE id = $1',
      [await fixture.user(), login, 'https://product.example.com'],
    );
    expect((await accounts.matching(login)).map(({ id }) => id)).toEqual([userId]);
    expect(await accounts.matching('id:2147483648')).toEqual([]);
    expect(await accounts.matching('id:01')).toEqual([]);
  });
});

describe('disabling a user', () => {
  it('ends only that user’s sessions and grants, including expired grants', async () => {
    const { userId, grants } = fixture;
    const { live, expired, other } = await granted();
    const before = await users.find(userId);
    expect(before?.disabled).toBe(false);
    expect(await accounts.disable(userId)).toMatchObject({ disabledBefore: [], revokedGrants: 3 });
    const after = await users.find(userId);
    expect(after).toEqual({
      ...before,
      disabled: true,
      sessionGeneration: (before?.sessionGeneration ?? 0) + 1,
    });
    expect(await users.findByLogin(before?.email ?? '')).toEqual(after);
    for (const id of [...live, expired]) expect((await grants.find(id))?.revokedAt).toBeInstanceOf(Date);
    expect((await grants.find(other))?.revokedAt).toBeNull();
    expect((await grants.revokedOf({ userId })).toSorted()).toEqual([...live, expired].toSorted());
  });

  it('is idempotent, even for concurrent calls', async () => {
    const { userId } = fixture;
    await granted();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => accounts.disable(userId)));
    expect(outcomes.filter((outcome) => outcome?.outcome === 'disabled')).toMatchObject([
      { disabledBefore: [], revokedGrants: 3 },
    ]);
    expect(await accounts.disable(userId)).toEqual({
      id: userId,
      outcome: 'disabled_before',
      disabledBefore: ['operator'],
      revokedGrants: 0,
      wasLastAdmin: false,
    });
    expect(await accounts.disable(2_000_000_000)).toBeNull();
  });

  it('is undone by enabling, but revoked grants stay revoked', async () => {
    const { userId, clientId } = fixture;
    await granted();
    await accounts.disable(userId);
    expect(await accounts.enable(userId)).toEqual({ disabledBefore: ['operator'], disabledBy: [] });
    expect((await users.find(userId))?.disabled).toBe(false);
    expect(await liveOf(userId)).toEqual([]);
    await fixture.grant(userId, clientId);
    expect(await liveOf(userId)).toHaveLength(1);
    expect(await accounts.enable(userId)).toEqual({ disabledBefore: [], disabledBy: [] });
    expect(await liveOf(userId)).toHaveLength(1);
    expect(await accounts.enable(2_000_000_000)).toBeNull();
  });

  it('ends sessions permanently even if done by plain SQL', async () => {
    const { userId, database } = fixture;
    const generation = async () => (await users.find(userId))?.sessionGeneration;
    const before = await generation();
    await database.dataSource.query('UPDATE users SET operator_disabled_at = now() WHERE id = $1', [userId]);
    await accounts.enable(userId);
    const after = await generation();
    expect(after).not.toBe(before);
    await accounts.enable(userId);
    expect(await generation()).toBe(after);
  });
});

describe('deleting a user', () => {
  it('removes all personal data and keeps the revoked grant records', async () => {
    const { userId, grants, database } = fixture;
    const { live, expired, other } = await granted();
    await database.dataSource.query(
      `INSERT INTO console_invitations (email, role, invited_by, expires_at)
       SELECT upper(email), 'viewer', 'ada', now() + interval '1 day' FROM users WHERE id = $1`,
      [userId],
    );
    expect(await accounts.delete(userId)).toEqual({ outcome: 'deleted', id: userId, revokedGrants: 3 });
    expect(await users.find(userId)).toBeNull();
    expect(await database.dataSource.query('SELECT FROM console_invitations')).toEqual([]);
    for (const id of [...live, expired])
      expect(await grants.find(id)).toMatchObject({ userId, revokedAt: expect.any(Date) });
    expect((await grants.find(other))?.revokedAt).toBeNull();
    expect((await grants.revokedOf({ userId })).toSorted()).toEqual([...live, expired].toSorted());
    expect(await accounts.delete(userId)).toEqual({
      outcome: 'deleted_before',
      id: userId,
      revokedGrants: 0,
    });
    expect(await accounts.disable(userId)).toBeNull();
    const elsewhere = `SELECT table_name FROM information_schema.columns
      WHERE table_schema = current_schema() AND column_name IN ('user_id', 'username', 'email', 'external_id')
      GROUP BY 1 ORDER BY 1`;
    // Foreign keys delete owners, testers and mails, and the user of requests. Invitations of the address expire.
    expect(await database.dataSource.query(elsewhere)).toEqual([
      { table_name: 'client_history' },
      { table_name: 'client_invitations' },
      { table_name: 'client_owners' },
      { table_name: 'client_requests' },
      { table_name: 'client_testers' },
      { table_name: 'console_invitations' },
      { table_name: 'ended_sessions' },
      { table_name: 'events' },
      { table_name: 'grants' },
      { table_name: 'mails' },
      { table_name: 'users' },
    ]);
  });

  it('succeeds for one of several concurrent callers', async () => {
    const { userId } = fixture;
    await granted();
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => accounts.delete(userId)));
    expect(outcomes.filter(({ outcome }) => outcome === 'deleted')).toMatchObject([{ revokedGrants: 3 }]);
  });

  it('waits for a grant that is being recorded, and revokes it', async () => {
    const { userId, clientId, database, isRevoked } = fixture;
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    const id = 'x'.repeat(43);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       VALUES ($1, $2, $3, '', '', now() + interval '1 day', interval '1 day')`,
      [id, userId, clientId],
    );
    const deleting = accounts.delete(userId);
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect(await deleting).toMatchObject({ revokedGrants: 1 });
    expect(await isRevoked(id)).toBe(true);
  });

  it('leaves no live grant and does not deadlock with concurrent changes', async () => {
    const { clientId, otherClientId, grants } = fixture;
    for (let round = 0; round < ROUNDS; round++) {
      const user = await fixture.user();
      const ids = [await fixture.grant(user, clientId), await fixture.grant(user, otherClientId)];
      const end = () => (round % 2 === 0 ? accounts.delete(user) : accounts.disable(user));
      await Promise.all([
        fixture.grant(user, clientId),
        fixture.decline(user, clientId, ['bookings:read']),
        grants.touch(ids.toReversed().map((id) => ({ id, day: '2031-01-11' }))),
        end(),
        fixture.grant(user, otherClientId),
        grants.revokeEvery(user),
        accounts.setLocale(user, 'de'),
        end(),
        fixture.decline(user, otherClientId, ['bookings:read']),
      ]);
      expect(await liveOf(user)).toEqual([]);
    }
  });
});

describe('a new password', () => {
  it('replaces the old password, and ends sessions only on request', async () => {
    const { userId } = fixture;
    const before = await users.find(userId);
    const stored = async () => (await users.credentialsOf(before?.username ?? '')).passwordHash;
    expect(await accounts.setPassword(userId, await hashPassword('correct horse'), false)).toBe(true);
    expect(await verifyPassword('correct horse', await stored())).toBe(true);
    expect(await users.find(userId)).toEqual(before);
    expect(await accounts.setPassword(userId, await hashPassword('battery staple'), true)).toBe(true);
    expect(await verifyPassword('correct horse', await stored())).toBe(false);
    expect((await users.find(userId))?.sessionGeneration).toBe((before?.sessionGeneration ?? 0) + 1);
    expect(await accounts.setPassword(2_000_000_000, await hashPassword('battery staple'), true)).toBe(false);
  });
});

describe('the list of users', () => {
  const make = async (username: string, name = 'X') =>
    (await users.create({ email: `${username}@list.example`, username, name, passwordHash: '$argon2id$x' }))
      .id;

  it('shows the account without its password', async () => {
    const id = await make('listed', 'Listed % Person');
    const listed = async (search: string) => (await accounts.list({ search }, { limit: 10 })).items[0];
    const found = await listed('LISTED@');
    expect(found).toEqual({
      id,
      username: 'listed',
      email: 'listed@list.example',
      name: 'Listed % Person',
      createdAt: expect.any(Date),
      disabledAt: null,
      disabledBy: [],
    });
    await accounts.disable(id);
    expect(await listed('d % p')).toEqual({
      ...found,
      disabledAt: expect.any(Date),
      disabledBy: ['operator'],
    });
  });
});

describe('the last admin of the console', () => {
  const lastAdmin = { kind: 'unconfirmed', problems: [{ id: 'confirmLastAdmin' }] };
  const confirmed = { confirmLastAdmin: true };
  let operators: ConsoleOperatorStore;

  beforeEach(async () => {
    operators = new ConsoleOperatorStore(fixture.database.dataSource);
    await operators.setRole(fixture.userId, 'admin');
  });

  it.each<[string, (id: number, condition?: { readonly confirmLastAdmin: boolean }) => Promise<unknown>]>([
    ['disabled', (id, condition) => accounts.disable(id, condition)],
    ['deleted', (id, condition) => accounts.delete(id, condition)],
    ['given another role', (id, condition) => operators.setRole(id, 'viewer', condition)],
  ])('is only %s if the caller confirms', async (_, change) => {
    await expect(change(fixture.userId)).rejects.toMatchObject(lastAdmin);
    expect(await operators.countAdmins()).toBe(1);
    await change(fixture.userId, confirmed);
    expect(await operators.countAdmins()).toBe(0);
  });
});
