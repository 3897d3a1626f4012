import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import { recordGrant } from '#grants/records/grant-record.statements.js';
import { UnredeemedGrantStore } from '#grants/records/unredeemed-grant.store.js';
import { blocked } from '#test/support/until.js';
import { useGrants } from './use-grants.js';

const newId = () => createHash('sha256').update(randomBytes(16)).digest('base64url');

describe('the limiter of live grants per user and client', () => {
  const fixture = useGrants();
  const query = <T>(sql: string, values: unknown[] = []) => fixture.database.dataSource.query<T>(sql, values);

  async function fill(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, newId);
    await query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, created_at, lifetime, expires_at)
       SELECT id, $1, $2, 'profile:read', 'profile:read', now() - ($4 - n) * interval '1 minute', interval '90 days',
              now() + interval '90 days'
       FROM unnest($3::text[]) WITH ORDINALITY AS filled (id, n)`,
      [fixture.userId, fixture.clientId, ids, count + 1],
    );
    return ids;
  }

  const record = (values: { scope?: string; continuesConsent?: boolean } = {}) => ({
    id: newId(),
    userId: fixture.userId,
    clientId: fixture.clientId,
    scope: 'profile:read',
    requestedScope: 'profile:read',
    resources: null,
    expiresAt: new Date(Date.now() + 1e9),
    ...values,
  });

  async function live(): Promise<string[]> {
    const rows = await query<{ id: string }[]>(
      `SELECT id FROM grants WHERE user_id = $1 AND client_id = $2 AND revoked_at IS NULL AND expires_at > now()
       ORDER BY created_at`,
      [fixture.userId, fixture.clientId],
    );
    return rows.map(({ id }) => id);
  }

  it('revokes and returns the oldest grant when another grant is recorded', async () => {
    const { grants, userId, otherClientId } = fixture;
    const others = [
      await fixture.grant(userId, otherClientId),
      await fixture.grant(await fixture.user(), fixture.clientId),
      await fixture.grant(userId, fixture.clientId, { days: -1 }),
    ];
    const held = await fill(MAX_LIVE_GRANTS - 1);
    const [last, above] = [record(), record()];
    expect(await grants.create(last)).toEqual({ declined: [], aboveLimit: [] });
    expect(await grants.create(above)).toEqual({ declined: [], aboveLimit: held.slice(0, 1) });
    expect(await live()).toEqual([...held.slice(1), last.id, above.id]);
    for (const id of others.slice(0, 2)) expect(await fixture.isRevoked(id)).toBe(false);
  });

  it('does not count grants that ended because their codes were not redeemed', async () => {
    const { grants } = fixture;
    const held = await fill(MAX_LIVE_GRANTS);
    await new UnredeemedGrantStore(fixture.database.dataSource).end(held.slice(-2));
    expect((await grants.create(record()))?.aboveLimit).toEqual([]);
    expect((await grants.create(record()))?.aboveLimit).toEqual([]);
    expect((await grants.create(record()))?.aboveLimit).toEqual(held.slice(0, 1));
  });

  it('counts a new grant only after the grants that it ends have ended', async () => {
    const { grants } = fixture;
    const held = await fill(MAX_LIVE_GRANTS - 1);
    const wide = record({ scope: 'profile:read bookings:read' });
    await grants.create(wide);
    expect(await grants.create(record(), ['bookings:read'])).toEqual({ declined: [wide.id], aboveLimit: [] });
    expect(await live()).toHaveLength(held.length + 1);
  });

  it('reduces a user with more live grants to the limit', async () => {
    const held = await fill(MAX_LIVE_GRANTS + 30);
    const ended = await fixture.grants.create(record());
    expect(ended?.aboveLimit.toSorted()).toEqual(held.slice(0, 31).toSorted());
    expect(await live()).toHaveLength(MAX_LIVE_GRANTS);
  });

  it('counts a grant that is being recorded', async () => {
    const { grants, database } = fixture;
    const held = await fill(MAX_LIVE_GRANTS - 1);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    expect(await recordGrant(runner.manager, record())).toEqual([]);
    const waiting = grants.create(record());
    await Promise.race([blocked(database), waiting]);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)?.aboveLimit).toEqual(held.slice(0, 1));
    expect(await live()).toHaveLength(MAX_LIVE_GRANTS);
  });

  it('keeps the limit under 200 concurrent recordings of every kind, all of which succeed', async () => {
    const { grants } = fixture;
    const held = await fill(MAX_LIVE_GRANTS - 20);
    const records = Array.from({ length: 200 }, (_, n) => record({ continuesConsent: n % 3 === 1 }));
    const uses = held.toReversed().map((id) => ({ id, day: '2031-01-11' }));
    const [recorded] = await Promise.all([
      Promise.all(
        records.map((newRecord, n) => grants.create(newRecord, n % 3 === 2 ? ['bookings:read'] : [])),
      ),
      grants.touch(uses),
      grants.touch(uses.toReversed()),
    ]);
    const ended = recorded.flatMap((each) => each?.aboveLimit ?? []);
    expect(recorded).not.toContain(null);
    expect(new Set(ended).size).toBe(ended.length);
    const all = [...held, ...records.map(({ id }) => id)];
    expect((await live()).toSorted()).toEqual(all.filter((id) => !ended.includes(id)).toSorted());
    expect(await live()).toHaveLength(MAX_LIVE_GRANTS);
  });

  it('agrees with a model for any history of recordings, revocations and expiries', async () => {
    const { grants } = fixture;
    const position = fc.nat({ max: MAX_LIVE_GRANTS });
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant({ kind: 'record' } as const) },
      { weight: 1, arbitrary: position.map((at) => ({ kind: 'revoke', at }) as const) },
      { weight: 1, arbitrary: position.map((at) => ({ kind: 'expire', at }) as const) },
    );
    const history = fc.array(step, { minLength: 5, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: MAX_LIVE_GRANTS - 3, max: MAX_LIVE_GRANTS }),
        history,
        async (count, steps) => {
          Object.assign(fixture, { userId: await fixture.user() });
          const model = await fill(count);
          for (const taken of steps) {
            if (taken.kind === 'record') {
              const created = record();
              const ended = await grants.create(created);
              model.push(created.id);
              expect(ended?.aboveLimit).toEqual(model.splice(0, Math.max(0, model.length - MAX_LIVE_GRANTS)));
            } else {
              const [id] = model.splice(taken.at, 1);
              if (id === undefined) continue;
              const expired = "UPDATE grants SET expires_at = now() - interval '1 second' WHERE id = $1";
              await (taken.kind === 'revoke' ? grants.revoke(id) : query(expired, [id]));
            }
            expect(await live()).toEqual(model);
          }
        },
      ),
      { numRuns: 8 },
    );
  });

  it('revokes the second-oldest grant if a concurrent statement has locked the oldest grant', async () => {
    const { grants, database } = fixture;
    const held = await fill(MAX_LIVE_GRANTS);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM grants WHERE id = $1 FOR NO KEY UPDATE', [held[0]]);
    expect((await grants.create(record()))?.aboveLimit).toEqual(held.slice(1, 2));
    await runner.commitTransaction();
    await runner.release();
  });

  it('waits if concurrent statements have locked all grants', async () => {
    const { grants, database, userId } = fixture;
    const held = await fill(MAX_LIVE_GRANTS);
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT id FROM grants WHERE user_id = $1 FOR NO KEY UPDATE', [userId]);
    const waiting = grants.create(record());
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await waiting)?.aboveLimit).toEqual(held.slice(0, 1));
    expect(await live()).toHaveLength(MAX_LIVE_GRANTS);
  });
});
