import { createHash, randomBytes } from 'node:crypto';
import { ClientStore } from '#clients/client.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { hashPassword } from '#users/password.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { UserStore } from '#users/user.store.js';
import { openDatabase, type OpenDatabase } from '../../../database/test/support/open-database.js';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import {
  GrantAdministrationStore,
  type GrantListFilter,
} from '#grants/records/grant-administration.store.js';
import { useGrants } from './use-grants.js';
import { type ConnectedApp, ConnectedAppStore } from '#grants/records/connected-app.store.js';
import { people } from '../../../users/test/people.js';

const DAY_MS = 86_400_000;
const newId = () => createHash('sha256').update(randomBytes(16)).digest('base64url');
const fromNow = (days: number) => new Date(Date.now() + days * DAY_MS);

describe('GrantRecordStore', () => {
  let database: OpenDatabase;
  let grants: GrantRecordStore;
  let userId: number;
  let otherUserId: number;
  let clientId: string;
  let users: UserStore;

  beforeAll(async () => {
    database = await openDatabase();
    grants = new GrantRecordStore(database.dataSource);
    users = new UserStore(database.dataSource);
    const passwordHash = await hashPassword('correct horse');
    const newUser = (username: string) =>
      users.create({ email: `${username}@example.com`, username, name: username, passwordHash });
    userId = (await newUser('ada')).id;
    otherUserId = (await newUser('grace')).id;
    const clients = new ClientStore(database.dataSource);
    ({ clientId } = await clients.create({
      name: 'A',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris: ['https://a.example/cb'],
    }));
  });
  afterAll(() => database.close());

  async function granted(expiresAt = fromNow(90), user = userId): Promise<string> {
    const id = newId();
    await grants.create({
      id,
      userId: user,
      clientId,
      scope: 'profile',
      requestedScope: 'profile',
      resources: null,
      expiresAt,
    });
    return id;
  }
  async function row(id: string) {
    const rows = await database.dataSource.query<{ used: string | null; expires: Date }[]>(
      'SELECT last_used_on::text AS used, expires_at AS expires FROM grants WHERE id = $1',
      [id],
    );
    return rows[0];
  }

  it('finds a grant as it was recorded', async () => {
    const id = await granted();
    const found = await grants.find(id);
    expect(found).toEqual({
      id,
      userId,
      clientId,
      scope: 'profile',
      resources: null,
      externalId: null,
      login: null,
      endsAt: null,
      createdAt: expect.any(Date),
      revokedAt: null,
      isUnredeemed: false,
    });
    expect(await grants.find(newId())).toBeNull();
  });

  it('deletes the user’s expired grants with the statement that records a new grant', async () => {
    const expired = await granted(fromNow(-1));
    const ofAnother = await granted(fromNow(-1), otherUserId);
    const live = await granted();
    const create = () =>
      grants.create({
        id: newId(),
        userId,
        clientId,
        scope: '',
        requestedScope: '',
        resources: null,
        expiresAt: fromNow(90),
      });
    expect(await database.statementsOf(create)).toHaveLength(1);
    expect(await grants.find(expired)).toBeNull();
    expect(await grants.find(ofAnother)).not.toBeNull();
    expect(await grants.find(live)).not.toBeNull();
  });

  it('deletes expired grants of deleted users when a grant is recorded', async () => {
    const accounts = new UserAccountStore(database.dataSource);
    const username = 'gone';
    const { id: gone } = await users.create({
      email: 'gone@example.com',
      username,
      name: username,
      passwordHash: '$argon2id$x',
    });
    const left: string[] = [];
    for (let number = 0; number < 30; number++) left.push(await granted(fromNow(90), gone));
    await accounts.delete(gone);
    const age = (days: number, expired: boolean, applied = true) =>
      database.dataSource.query(
        `UPDATE grants SET revoked_at = now() - $2 * interval '1 day',
           revocation_applied_at = CASE WHEN $4 THEN now() - $2 * interval '1 day' END,
           expires_at = now() + CASE WHEN $3 THEN interval '-1 hour' ELSE interval '1 hour' END
         WHERE id = ANY($1)`,
        [left, days, expired, applied],
      );
    const remain = async () => (await Promise.all(left.map((id) => grants.find(id)))).filter(Boolean).length;
    const recordGrants = async (times: number) => {
      for (let time = 0; time < times; time++) await granted();
    };
    await age(100, false);
    await recordGrants(5);
    expect(await remain()).toBe(30);
    // The record is needed until the revocation is applied.
    await age(100, true, false);
    await recordGrants(5);
    expect(await remain()).toBe(30);
    await age(0.9, true);
    await recordGrants(5);
    expect(await remain()).toBe(30);
    await age(1.1, true);
    await recordGrants(1);
    expect(await remain()).toBe(20);
    await recordGrants(2);
    expect(await remain()).toBe(0);
  });

  it('revokes a grant once and permanently', async () => {
    const id = await granted();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => grants.revoke(id)));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const revokedAt = (await grants.find(id))?.revokedAt;
    expect(revokedAt).toBeInstanceOf(Date);
    expect(await grants.revoke(id)).toBe(false);
    expect((await grants.find(id))?.revokedAt).toEqual(revokedAt);
    expect(await grants.revoke(newId())).toBe(false);
  });

  it('records the last use of many grants with one statement, and ignores earlier days', async () => {
    const [one, two] = [await granted(), await granted()];
    const uses = [
      { id: one, day: '2030-01-01' },
      { id: one, day: '2030-01-03' },
      { id: two, day: '2030-01-02' },
      { id: newId(), day: '2030-01-02' },
    ];
    expect(await database.statementsOf(() => grants.touch(uses))).toHaveLength(1);
    await grants.touch([{ id: one, day: '2030-01-02' }]);
    expect((await row(one))?.used).toBe('2030-01-03');
    expect((await row(two))?.used).toBe('2030-01-02');
  });

  it('keeps a grant for its whole lifetime after its last use', async () => {
    const id = await granted(fromNow(90));
    await grants.touch([{ id, day: '2030-01-01' }]);
    const endOfDay = Date.parse('2030-01-02T00:00:00Z');
    expect(Math.abs(Number((await row(id))?.expires) - (endOfDay + 90 * DAY_MS))).toBeLessThan(60_000);
  });

  it('never shortens the lifetime of a grant', async () => {
    const id = await granted(fromNow(90));
    const before = (await row(id))?.expires;
    await grants.touch([{ id, day: '2001-01-01' }]);
    expect((await row(id))?.expires).toEqual(before);
  });

  it('ignores uses of a revoked grant, and sends no statement without uses', async () => {
    const id = await granted();
    await grants.revoke(id);
    await grants.touch([{ id, day: '2030-01-01' }]);
    expect((await row(id))?.used).toBeNull();
    expect(await database.statementsOf(() => grants.touch([]))).toEqual([]);
  });

  it('records overlapping batches of uses concurrently without a deadlock', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => granted()));
    const batch = (day: number) => ids.map((id) => ({ id, day: `2031-01-${String(day).padStart(2, '0')}` }));
    const days = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(days.map((day) => grants.touch(day % 2 ? batch(day) : batch(day).toReversed())));
    expect((await row(ids[0]!))?.used).toBe('2031-01-20');
  });

  it('deletes a withdrawn record', async () => {
    const id = await granted();
    await grants.withdraw(id);
    expect(await grants.find(id)).toBeNull();
    await grants.withdraw(id);
  });

  it('rejects an id that is not a SHA-256 digest, such as a handle', async () => {
    const handle = randomBytes(16).toString('base64url');
    const create = grants.create({
      id: handle,
      userId,
      clientId,
      scope: '',
      requestedScope: '',
      resources: null,
      expiresAt: fromNow(1),
    });
    await expect(create).rejects.toThrow('grants_id_check');
  });
});

describe('GrantAdministrationStore', () => {
  const fixture = useGrants();
  const store = () => new GrantAdministrationStore(fixture.database.dataSource);
  const listed = async (filter: GrantListFilter) => (await store().list(filter, { limit: 10 })).items;

  it('returns the grants of deleted clients and of deleted users', async () => {
    const { userId, clientId, database } = fixture;
    const id = await fixture.grant(userId, clientId);
    await new ClientRegistrationStore(database.dataSource).delete(clientId);
    expect(await store().find(id)).toMatchObject({ clientName: 'Calendar', username: expect.any(String) });
    await new UserAccountStore(database.dataSource).delete(userId);
    const ofDeleted = { id, userId, username: null, clientId, clientName: 'Calendar' };
    expect(await store().find(id)).toMatchObject(ofDeleted);
    expect(await listed({ clientId, ended: true })).toMatchObject([ofDeleted]);
    expect(await listed({ userId, ended: false })).toEqual([]);
  });

  it('revokes grants of a user, of a client, or of both', async () => {
    const { userId, clientId, otherClientId, isRevoked } = fixture;
    const other = await fixture.user();
    const grants = [
      await fixture.grant(userId, clientId),
      await fixture.grant(userId, otherClientId),
      await fixture.grant(other, clientId),
      await fixture.grant(other, otherClientId),
    ];
    const revoked = async (owner: Parameters<GrantAdministrationStore['revoke']>[0]) => {
      await store().revoke(owner, () => undefined);
      return Promise.all(grants.map((id) => isRevoked(id)));
    };
    expect(await revoked({ userId, clientId })).toEqual([true, false, false, false]);
    expect(await revoked({ userId })).toEqual([true, true, false, false]);
    expect(await revoked({ clientId })).toEqual([true, true, true, false]);
  });
});

describe('ConnectedAppStore', () => {
  let database: OpenDatabase;
  let apps: ConnectedAppStore;
  let grants: GrantRecordStore;
  let fixture: ReturnType<typeof people>;

  beforeAll(async () => {
    database = await openDatabase();
    apps = new ConnectedAppStore(database.dataSource);
    grants = new GrantRecordStore(database.dataSource);
    fixture = people(database.dataSource);
  });
  afterAll(() => database.close());

  it('combines all grants to a client: their scopes, the oldest date and the last use', async () => {
    const image = randomBytes(20);
    const clientId = await fixture.client({ firstParty: true, logo: { mediaType: 'image/webp', image } });
    const userId = await fixture.user();
    const first = await fixture.grant(userId, clientId, { scope: 'profile:read bookings:read' });
    const second = await fixture.grant(userId, clientId, { scope: 'schedules:read profile:read' });
    await grants.touch([
      { id: first, day: '2030-01-02' },
      { id: second, day: '2030-01-01' },
    ]);
    const shown = {
      clientId,
      name: 'Calendar',
      logo: createHash('sha256').update(image).digest('hex'),
      firstParty: true,
      clientType: 'public',
      isDisabled: false,
      scopes: ['bookings:read', 'profile:read', 'schedules:read'],
      since: (await grants.find(first))!.createdAt,
      lastUsedOn: '2030-01-02',
    };
    const inOrder = (app: ConnectedApp | null) => app && { ...app, scopes: app.scopes.toSorted() };
    expect((await apps.list(userId)).map(inOrder)).toEqual([shown]);
    expect(inOrder(await apps.find(userId, clientId))).toEqual(shown);
  });

  it('excludes revoked and expired grants, grants of other users, and deleted clients', async () => {
    const [clientId, deleted, userId] = [
      await fixture.client(),
      await fixture.client(),
      await fixture.user(),
    ];
    await grants.revoke(await fixture.grant(userId, clientId));
    await fixture.grant(await fixture.user(), clientId);
    await fixture.grant(userId, deleted);
    await new ClientRegistrationStore(database.dataSource).delete(deleted);
    await fixture.grant(userId, clientId, { days: -1 });
    expect(await apps.list(userId)).toEqual([]);
    expect(await apps.find(userId, clientId)).toBeNull();
  });

  it('sorts by name, ignoring letter case', async () => {
    const userId = await fixture.user();
    for (const name of ['beta', 'Gamma', 'Alpha'])
      await fixture.grant(userId, await fixture.client({ name }), { scope: '' });
    const listed = await apps.list(userId);
    expect(listed.map(({ name }) => name)).toEqual(['Alpha', 'beta', 'Gamma']);
    expect(listed[0]).toMatchObject({ logo: null, firstParty: false, scopes: [], lastUsedOn: null });
  });

  it('lists at most 200 applications with one statement', async () => {
    const userId = await fixture.user();
    for (let i = 0; i < 201; i++) await fixture.grant(userId, await fixture.client());
    expect(await database.statementsOf(() => apps.list(userId))).toHaveLength(1);
    expect(await apps.list(userId)).toHaveLength(200);
  });

  it.each(['sc_unknown', '', 'a\0b'])('finds no application %j', async (clientId) => {
    expect(await apps.find(await fixture.user(), clientId)).toBeNull();
  });
});
