import { randomBytes } from 'node:crypto';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { ClientStore } from '#clients/client.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UserStore } from '#users/user.store.js';
import { openDatabase, type OpenDatabase } from '../../database/test/support/open-database.js';
import { people } from '../../users/test/people.js';

describe('AuthorizationContextStore', () => {
  let database: OpenDatabase;
  let contexts: AuthorizationContextStore;
  let grants: GrantRecordStore;
  let fixture: ReturnType<typeof people>;

  beforeAll(async () => {
    database = await openDatabase();
    contexts = new AuthorizationContextStore(database.dataSource);
    grants = new GrantRecordStore(database.dataSource);
    fixture = people(database.dataSource);
  });
  afterAll(() => database.close());

  it('finds the same client and user as the stores of clients and users, without secrets', async () => {
    const clientId = await fixture.client({
      type: 'confidential',
      secretHash: randomBytes(32),
      scopes: ['profile:read', 'bookings:read'],
      optionalScopes: ['bookings:read'],
      requirePar: true,
      requireState: false,
      firstParty: true,
      logo: { mediaType: 'image/png', image: randomBytes(20) },
    });
    const userId = await fixture.user();
    await new UserStore(database.dataSource).setLocale(userId, 'ja');
    const { client, user, decisions } = await contexts.find(clientId, userId);
    const {
      secrets,
      version,
      jwks,
      jwksUri,
      grantType,
      dpopBound,
      keepsRefreshToken,
      privateSchemes,
      profile,
      ...registered
    } = (await new ClientStore(database.dataSource).find(clientId))!;
    expect([secrets.length, version, privateSchemes]).toEqual([1, 1, []]);
    expect([jwks, jwksUri, dpopBound, keepsRefreshToken, profile]).toEqual([null, null, false, false, null]);
    expect(grantType).toBe('authorization_code');
    expect(client).toEqual(registered);
    expect(client?.logo).toMatch(/^[0-9a-f]{64}$/);
    expect(user).toEqual(await new UserStore(database.dataSource).find(userId));
    expect(decisions).toEqual([]);
  });

  it('uses one statement, with or without a user', async () => {
    const [clientId, userId] = [await fixture.client(), await fixture.user()];
    await fixture.grant(userId, clientId);
    expect(await database.statementsOf(() => contexts.find(clientId, userId))).toHaveLength(1);
    expect(await database.statementsOf(() => contexts.find(clientId, null))).toHaveLength(1);
  });

  it('counts only the user’s grants to the client in the last 24 hours, including revoked grants', async () => {
    const [clientId, userId] = [await fixture.client(), await fixture.user()];
    const ids = [await fixture.grant(userId, clientId), await fixture.grant(userId, clientId)];
    await fixture.grant(userId, await fixture.client());
    await fixture.grant(await fixture.user(), clientId);
    await grants.revokeOf(userId, clientId);
    expect((await contexts.find(clientId, userId)).grantsOfDay).toBe(2);
    const sql = `UPDATE grants SET created_at = now() - interval '25 hours' WHERE id = $1`;
    await database.dataSource.query(sql, [ids[0]]);
    expect((await contexts.find(clientId, userId)).grantsOfDay).toBe(1);
    expect((await contexts.find(clientId, null)).grantsOfDay).toBe(0);
  });

  it('returns each different decision once, with its latest date, newest first', async () => {
    const [clientId, userId] = [await fixture.client(), await fixture.user()];
    const all = 'profile:read bookings:read';
    await fixture.grant(userId, clientId, { scope: all });
    await fixture.grant(userId, clientId, { scope: 'profile:read', requestedScope: all });
    await fixture.grant(userId, clientId, { scope: all, resources: 'https://api.example.com' });
    const newest = await fixture.grant(userId, clientId, { scope: all });
    const { decisions } = await contexts.find(clientId, userId);
    expect(decisions).toEqual([
      { requested: all, granted: all, resources: null, at: (await grants.find(newest))!.createdAt },
      { requested: all, granted: all, resources: 'https://api.example.com', at: expect.any(Date) },
      { requested: all, granted: 'profile:read', resources: null, at: expect.any(Date) },
    ]);
    expect(decisions[0]!.at.getTime()).toBeGreaterThanOrEqual(decisions[1]!.at.getTime());
  });

  it('excludes decisions that are revoked or expired, or belong to another user or client', async () => {
    const [clientId, userId] = [await fixture.client(), await fixture.user()];
    await grants.revoke(await fixture.grant(userId, clientId));
    await fixture.grant(await fixture.user(), clientId);
    await fixture.grant(userId, await fixture.client());
    await fixture.grant(userId, clientId, { days: -1 });
    expect((await contexts.find(clientId, userId)).decisions).toEqual([]);
  });

  it('does not find a deleted client or the decisions about it', async () => {
    const [clientId, userId] = [await fixture.client(), await fixture.user()];
    await fixture.grant(userId, clientId);
    await new ClientRegistrationStore(database.dataSource).delete(clientId);
    expect(await contexts.find(clientId, userId)).toMatchObject({ client: null, decisions: [] });
  });

  it.each(['sc_unknown', '', 'a\0b', 'with space', 'ünknown', 'x'.repeat(256), "' OR 1=1 --"])(
    'finds the user, but no client %j',
    async (clientId) => {
      const userId = await fixture.user();
      expect(await contexts.find(clientId, userId)).toMatchObject({ client: null, user: { id: userId } });
    },
  );

  it('finds the client without a session and for a deleted user', async () => {
    const clientId = await fixture.client();
    for (const userId of [null, 2_000_000_000])
      expect(await contexts.find(clientId, userId)).toMatchObject({
        client: { clientId },
        user: null,
        decisions: [],
      });
  });

  it('reads grants only through indexes', async () => {
    const [clientId, userId] = [await fixture.client(), await fixture.user()];
    const others = await Promise.all(Array.from({ length: 5 }, () => fixture.user()));
    await database.dataSource.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT left(encode(sha256((u || '-' || n)::bytea), 'hex'), 43), u, $2, 'profile:read', 'profile:read',
              now() + interval '90 days', interval '90 days'
       FROM unnest($1::integer[]) u, generate_series(1, 1000) n`,
      [others, clientId],
    );
    await database.dataSource.query('ANALYZE grants');
    const [statement = ''] = await database.statementsOf(() => contexts.find(clientId, userId));
    const plan = await database.dataSource.query(`EXPLAIN ${statement}`, [clientId, userId]);
    expect(JSON.stringify(plan)).toContain('grants_user_client');
    expect(JSON.stringify(plan)).not.toContain('Seq Scan on grants');
  });
});
