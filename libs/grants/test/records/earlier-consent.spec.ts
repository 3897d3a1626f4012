import { createHash, randomBytes } from 'node:crypto';
import { blocked } from '#test/support/until.js';
import { useGrants } from './use-grants.js';

const DAY_MS = 86_400_000;

describe('a grant that continues earlier consent', () => {
  const fixture = useGrants();
  async function continueConsent(
    scope = 'profile:read',
    resources: string | null = null,
  ): Promise<[id: string, recorded: boolean]> {
    const id = createHash('sha256').update(randomBytes(16)).digest('base64url');
    const expiresAt = new Date(Date.now() + 90 * DAY_MS);
    const { userId, clientId, grants } = fixture;
    const grant = {
      id,
      userId,
      clientId,
      scope,
      requestedScope: scope,
      resources,
      expiresAt,
      continuesConsent: true,
    };
    return [id, (await grants.create(grant)) !== null];
  }

  it('is recorded only while a live grant of the same user and client exists', async () => {
    const { userId, clientId, otherClientId, grants } = fixture;
    expect((await continueConsent())[1]).toBe(false);
    await fixture.grant(userId, otherClientId);
    await fixture.grant(await fixture.user(), clientId);
    await fixture.grant(userId, clientId, { days: -1 });
    expect((await continueConsent())[1]).toBe(false);
    await fixture.grant(userId, clientId);
    expect((await continueConsent())[1]).toBe(true);
    await grants.revokeOf(userId, clientId);
    expect((await continueConsent())[1]).toBe(false);
  });

  it('is recorded only if live grants cover each of its scopes', async () => {
    const { userId, clientId } = fixture;
    await fixture.grant(userId, clientId, { scope: 'profile:read bookings:read' });
    await fixture.grant(userId, clientId, { scope: 'profile:read bookings:write' });
    expect((await continueConsent('bookings:read bookings:write'))[1]).toBe(true);
    expect((await continueConsent('bookings:read schedules:read'))[1]).toBe(false);
    expect((await continueConsent('bookings'))[1]).toBe(false);
    await fixture.decline(userId, clientId, ['bookings:write']);
    expect((await continueConsent('bookings:read'))[1]).toBe(true);
    expect((await continueConsent('profile:read bookings:write'))[1]).toBe(false);
  });

  // @rfc 8707 2.2
  it('is recorded only if live grants cover each of its scopes for each of its APIs (RFC 8707)', async () => {
    const { userId, clientId } = fixture;
    const [api, bookings] = ['https://api.example.com', 'https://bookings.example.com'];
    const both = `${api} ${bookings}`;
    await fixture.grant(userId, clientId, { scope: 'profile:read', resources: both });
    await fixture.grant(userId, clientId, { scope: 'bookings:read', resources: api });
    for (const [scope, resources, expected] of [
      ['profile:read', api, true],
      ['profile:read', both, true],
      ['profile:read', null, false],
      ['profile:read', `${both} https://files.example.com`, false],
      ['profile:read', 'https://api.example', false],
      ['profile:read bookings:read', api, true],
      ['profile:read bookings:read', both, false],
      ['bookings:read', bookings, false],
    ] as const)
      expect([scope, resources, (await continueConsent(scope, resources))[1]]).toEqual([
        scope,
        resources,
        expected,
      ]);
    await fixture.grant(userId, clientId, { scope: 'bookings:read' });
    expect((await continueConsent('profile:read bookings:read', both))[1]).toBe(true);
  });

  it('is not recorded if the user concurrently declines one of its scopes', async () => {
    const { userId, clientId, database } = fixture;
    await fixture.grant(userId, clientId, { scope: 'profile:read' });
    const wide = await fixture.grant(userId, clientId, { scope: 'profile:read bookings:read' });
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [wide]);
    const waiting = continueConsent('profile:read bookings:read');
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)[1]).toBe(false);
    expect((await continueConsent('profile:read'))[1]).toBe(true);
  });

  it('is not recorded if the earlier grant is concurrently revoked', async () => {
    const { userId, clientId, database } = fixture;
    const id = await fixture.grant(userId, clientId);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    const waiting = continueConsent();
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)[1]).toBe(false);
  });

  it('is revoked by a revocation that begins while it is being recorded', async () => {
    const { userId, clientId, grants, database, isRevoked } = fixture;
    const id = await fixture.grant(userId, clientId);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM grants WHERE id = $1 FOR UPDATE', [id]);
    const recording = continueConsent();
    await blocked(database);
    const revoking = grants.revokeOf(userId, clientId);
    await blocked(database, 2);
    await runner.commitTransaction();
    await runner.release();
    const [continued, recorded] = await recording;
    expect(recorded).toBe(true);
    expect((await revoking).toSorted()).toEqual([id, continued].toSorted());
    expect(await isRevoked(continued)).toBe(true);
  });

  // @reliability race-consent
  it('is revoked and does not deadlock with concurrent recordings, uses and revocations', async () => {
    const { userId, clientId, grants, database } = fixture;
    const id = await fixture.grant(userId, clientId);
    await Promise.all([
      ...Array.from({ length: 10 }, () => continueConsent()),
      grants.revokeOf(userId, clientId),
      grants.touch([{ id, day: '2031-01-11' }]),
      ...Array.from({ length: 10 }, () => continueConsent()),
      grants.revokeEvery(userId),
    ]);
    const live = 'SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL';
    expect(await database.dataSource.query(live, [userId])).toEqual([]);
  });

  it('does not deadlock with other writes, even while expired grants are deleted', async () => {
    const { userId, clientId, otherClientId, grants, database } = fixture;
    const live = await fixture.grant(userId, clientId);
    for (let round = 0; round < 15; round++) {
      const expired = await Promise.all(Array.from({ length: 30 }, () => fixture.grant(userId, clientId)));
      await database.dataSource.query(
        `UPDATE grants SET expires_at = now() - interval '1 day' WHERE id = ANY($1)`,
        [expired],
      );
      const uses = [...expired, live].toReversed().map((id) => ({ id, day: '2031-01-11' }));
      await Promise.all([
        ...Array.from({ length: 3 }, () => continueConsent()),
        ...Array.from({ length: 3 }, () => fixture.grant(userId, clientId)),
        grants.touch(uses),
        grants.touch(uses.toReversed()),
        grants.revokeOf(userId, otherClientId),
        fixture.decline(userId, clientId, ['bookings:read']),
      ]);
    }
    expect((await continueConsent())[1]).toBe(true);
  });
});

describe('a decision that declines a scope', () => {
  const fixture = useGrants();
  const wide = () => fixture.grant(fixture.userId, fixture.clientId, { scope: 'profile:read bookings:read' });
  const decline = () => fixture.decline(fixture.userId, fixture.clientId, ['bookings:read']);

  it('ends only grants to this client that include the scope', async () => {
    const { userId, clientId, otherClientId, isRevoked } = fixture;
    const held = [await wide(), await wide()];
    const scope = 'profile:read bookings:read';
    const kept = [
      await fixture.grant(userId, clientId),
      await fixture.grant(userId, otherClientId, { scope }),
      await fixture.grant(await fixture.user(), clientId, { scope }),
    ];
    const { id, ended } = await decline();
    expect(ended?.toSorted()).toEqual(held.toSorted());
    for (const grant of held) expect(await isRevoked(grant)).toBe(true);
    for (const grant of [...kept, id]) expect(await isRevoked(grant)).toBe(false);
  });

  it('returns the same ended grants if it is repeated', async () => {
    const held = await wide();
    expect((await decline()).ended).toEqual([held]);
    expect((await decline()).ended).toEqual([held]);
  });

  it('keeps an ended grant even if it has expired, because its revocation may not be applied yet', async () => {
    const { userId, clientId, isRevoked } = fixture;
    const held = await fixture.grant(userId, clientId, { scope: 'profile:read bookings:read', days: -1 });
    expect((await decline()).ended).toEqual([held]);
    expect((await decline()).ended).toEqual([held]);
    expect(await isRevoked(held)).toBe(true);
  });

  it('is not recorded, and ends no grant, if the client was deleted', async () => {
    const { clientId, database, grants, isRevoked } = fixture;
    const held = await wide();
    await database.dataSource.query('UPDATE clients SET deleted_at = now() WHERE client_id = $1', [clientId]);
    const { id, ended } = await decline();
    expect(ended).toBeNull();
    expect(await isRevoked(held)).toBe(false);
    expect(await grants.find(id)).toBeNull();
  });

  it('is not recorded, and ends no grant, if its id is taken', async () => {
    const { userId, clientId, grants, isRevoked } = fixture;
    const held = await wide();
    const again = {
      id: held,
      userId,
      clientId,
      scope: 'profile:read',
      requestedScope: 'profile:read',
      resources: null,
    };
    expect(await grants.create({ ...again, expiresAt: new Date() }, ['bookings:read'])).toBeNull();
    expect(await isRevoked(held)).toBe(false);
  });

  it('waits for a grant that is being recorded, and ends it', async () => {
    const { database, userId, clientId, isRevoked } = fixture;
    const held = await wide();
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR SHARE', [userId]);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       SELECT 'other' || substr(id, 6), user_id, $2, scope, requested_scope, expires_at, lifetime FROM grants WHERE id = $1`,
      [held, clientId],
    );
    const waiting = decline();
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting).ended).toHaveLength(2);
    expect(await isRevoked(`other${held.slice(5)}`)).toBe(true);
  });
});
