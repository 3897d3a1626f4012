import { createHash, randomBytes } from 'node:crypto';
import { blocked } from '#test/support/blocked.js';
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
    const { mine, one, grants } = fixture;
    const grant = {
      id,
      userId: mine,
      clientId: one,
      scope,
      requestedScope: scope,
      resources,
      expiresAt,
      continuesConsent: true,
    };
    return [id, (await grants.create(grant)) !== null];
  }

  it('is recorded only while a live grant of the same user and client exists', async () => {
    const { mine, one, two, grants } = fixture;
    expect((await continueConsent())[1]).toBe(false);
    await fixture.grant(mine, two);
    await fixture.grant(await fixture.user(), one);
    await fixture.grant(mine, one, { days: -1 });
    expect((await continueConsent())[1]).toBe(false);
    await fixture.grant(mine, one);
    expect((await continueConsent())[1]).toBe(true);
    await grants.revokeOf(mine, one);
    expect((await continueConsent())[1]).toBe(false);
  });

  it('is recorded only if live grants cover each of its scopes', async () => {
    const { mine, one } = fixture;
    await fixture.grant(mine, one, { scope: 'profile:read bookings:read' });
    await fixture.grant(mine, one, { scope: 'profile:read bookings:write' });
    expect((await continueConsent('bookings:read bookings:write'))[1]).toBe(true);
    expect((await continueConsent('bookings:read schedules:read'))[1]).toBe(false);
    expect((await continueConsent('bookings'))[1]).toBe(false);
    await fixture.decline(mine, one, ['bookings:write']);
    expect((await continueConsent('bookings:read'))[1]).toBe(true);
    expect((await continueConsent('profile:read bookings:write'))[1]).toBe(false);
  });

  // @rfc 8707 2.2
  it('is recorded only if live grants cover each of its scopes for each of its APIs (RFC 8707)', async () => {
    const { mine, one } = fixture;
    const [api, bookings] = ['https://api.example.com', 'https://bookings.example.com'];
    const both = `${api} ${bookings}`;
    await fixture.grant(mine, one, { scope: 'profile:read', resources: both });
    await fixture.grant(mine, one, { scope: 'bookings:read', resources: api });
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
    await fixture.grant(mine, one, { scope: 'bookings:read' });
    expect((await continueConsent('profile:read bookings:read', both))[1]).toBe(true);
  });

  it('is not recorded if the user concurrently declines one of its scopes', async () => {
    const { mine, one, database } = fixture;
    await fixture.grant(mine, one, { scope: 'profile:read' });
    const wide = await fixture.grant(mine, one, { scope: 'profile:read bookings:read' });
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [mine]);
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [wide]);
    const waiting = continueConsent('profile:read bookings:read');
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)[1]).toBe(false);
    expect((await continueConsent('profile:read'))[1]).toBe(true);
  });

  it('is not recorded if the user concurrently revokes the client', async () => {
    const { mine, one, database } = fixture;
    const id = await fixture.grant(mine, one);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [mine]);
    await runner.query('UPDATE grants SET revoked_at = now() WHERE id = $1', [id]);
    const waiting = continueConsent();
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)[1]).toBe(false);
  });

  it('is revoked by a revocation that begins while it is being recorded', async () => {
    const { mine, one, grants, database, isRevoked } = fixture;
    const id = await fixture.grant(mine, one);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM grants WHERE id = $1 FOR UPDATE', [id]);
    const recording = continueConsent();
    await blocked(database);
    const revoking = grants.revokeOf(mine, one);
    await blocked(database, 2);
    await runner.commitTransaction();
    await runner.release();
    const [continued, recorded] = await recording;
    expect(recorded).toBe(true);
    expect((await revoking).toSorted()).toEqual([id, continued].toSorted());
    expect(await isRevoked(continued)).toBe(true);
  });

  it('leaves no live grant and does not deadlock with concurrent recordings, uses and revocations', async () => {
    const { mine, one, grants, database } = fixture;
    const id = await fixture.grant(mine, one);
    await Promise.all([
      ...Array.from({ length: 10 }, () => continueConsent()),
      grants.revokeOf(mine, one),
      grants.touch([{ id, day: '2031-01-11' }]),
      ...Array.from({ length: 10 }, () => continueConsent()),
      grants.revokeEvery(mine),
    ]);
    const live = 'SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL';
    expect(await database.dataSource.query(live, [mine])).toEqual([]);
  });

  it('does not deadlock with other writes, even while expired grants are deleted', async () => {
    const { mine, one, two, grants, database } = fixture;
    const live = await fixture.grant(mine, one);
    for (let round = 0; round < 40; round++) {
      const expired = await Promise.all(Array.from({ length: 30 }, () => fixture.grant(mine, one)));
      await database.dataSource.query(
        `UPDATE grants SET expires_at = now() - interval '1 day' WHERE id = ANY($1)`,
        [expired],
      );
      const uses = [...expired, live].toReversed().map((id) => ({ id, day: '2031-01-11' }));
      await Promise.all([
        ...Array.from({ length: 3 }, () => continueConsent()),
        ...Array.from({ length: 3 }, () => fixture.grant(mine, one)),
        grants.touch(uses),
        grants.touch(uses.toReversed()),
        grants.revokeOf(mine, two),
        fixture.decline(mine, one, ['bookings:read']),
      ]);
    }
    expect((await continueConsent())[1]).toBe(true);
  });
});
