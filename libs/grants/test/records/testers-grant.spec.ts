import { createHash, randomBytes } from 'node:crypto';
import { blocked } from '#test/support/until.js';
import { useGrants } from './use-grants.js';

const DAY_MS = 86_400_000;

describe('a grant with an end', () => {
  const fixture = useGrants();
  const sql = (text: string, values: unknown[] = []) =>
    fixture.database.dataSource.query<unknown[]>(text, values);
  const create = (more: { continuesConsent?: boolean } = {}, declined: string[] = []) => {
    const { userId, clientId, grants } = fixture;
    const endsAt = Date.now() + 7 * DAY_MS;
    const id = createHash('sha256').update(randomBytes(16)).digest('base64url');
    const consent = { scope: 'profile:read', requestedScope: 'profile:read', resources: null };
    return grants.create(
      { id, userId, clientId, ...consent, expiresAt: new Date(endsAt), endsAt, ...more },
      declined,
    );
  };
  const addTester = () =>
    sql('INSERT INTO client_testers (client_id, user_id) VALUES ($1, $2)', [
      fixture.clientId,
      fixture.userId,
    ]);

  beforeEach(async () => {
    await sql(`UPDATE clients SET stage = 'testing' WHERE client_id = $1`, [fixture.clientId]);
  });

  it('is recorded only for an owner or tester of a client in testing', async () => {
    expect(await create()).toBeNull();
    await addTester();
    expect(await create()).not.toBeNull();
    await sql('DELETE FROM client_testers');
    await sql('INSERT INTO client_owners (client_id, user_id) VALUES ($1, $2)', [
      fixture.clientId,
      fixture.userId,
    ]);
    expect(await create({}, ['bookings:read'])).not.toBeNull();
  });

  it('is not recorded for a tester whose removal the recording waited for', async () => {
    await addTester();
    const remover = fixture.database.dataSource.createQueryRunner();
    await remover.startTransaction();
    await remover.query('DELETE FROM client_testers WHERE client_id = $1', [fixture.clientId]);
    const recorded = create();
    await blocked({ sql });
    await remover.commitTransaction();
    await remover.release();
    expect(await recorded).toBeNull();
  });

  it('does not block the deletion of its user, who owns the client', async () => {
    const { userId, clientId } = fixture;
    await sql('INSERT INTO client_owners (client_id, user_id) VALUES ($1, $2)', [clientId, userId]);
    const allowing = fixture.database.dataSource.createQueryRunner();
    await allowing.startTransaction();
    // First step of the common lock order; the second waits for the deletion.
    await allowing.query('SELECT FROM clients WHERE client_id = $1 FOR SHARE', [clientId]);
    const deletion = fixture.database.dataSource.createQueryRunner();
    await deletion.startTransaction();
    await deletion.query(`SET LOCAL lock_timeout = '5s'`);
    await deletion.query('DELETE FROM users WHERE id = $1', [userId]);
    await deletion.commitTransaction();
    expect(await allowing.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId])).toEqual(
      [],
    );
    await allowing.commitTransaction();
    await Promise.all([allowing.release(), deletion.release()]);
  });

  it('counts as consent only to further grants with an end', async () => {
    const { userId, clientId, grants } = fixture;
    await addTester();
    await create();
    expect(await create({ continuesConsent: true })).not.toBeNull();
    await sql(`UPDATE clients SET stage = 'live' WHERE client_id = $1`, [clientId]);
    const id = createHash('sha256').update(randomBytes(16)).digest('base64url');
    const consent = { scope: 'profile:read', requestedScope: 'profile:read', resources: null };
    const unlimited = {
      id,
      userId,
      clientId,
      ...consent,
      expiresAt: new Date(Date.now() + DAY_MS),
      continuesConsent: true,
    };
    expect(await grants.create(unlimited)).toBeNull();
  });
});
