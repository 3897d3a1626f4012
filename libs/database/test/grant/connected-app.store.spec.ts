import { createHash, randomBytes } from 'node:crypto';
import { ClientRegistrationStore } from '#database/client/client-registration.store.js';
import { type ConnectedApp, ConnectedAppStore } from '#database/grant/connected-app.store.js';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { openDatabase, type OpenDatabase } from '../connection/open-database.js';
import { people } from '../user/people.js';

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

  it('merges all grants of a client: unique scopes, oldest date, last use', async () => {
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
