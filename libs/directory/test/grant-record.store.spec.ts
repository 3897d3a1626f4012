import { createHash, randomBytes } from 'node:crypto';
import { ClientStore } from '#directory/client.store.js';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { hashPassword } from '#directory/password.js';
import { UserStore } from '#directory/user.store.js';
import { openDirectory, type OpenDirectory } from './open-directory.js';

const DAY_MS = 86_400_000;
const newId = () => createHash('sha256').update(randomBytes(16)).digest('base64url');
const fromNow = (days: number) => new Date(Date.now() + days * DAY_MS);

describe('GrantRecordStore', () => {
  let directory: OpenDirectory;
  let grants: GrantRecordStore;
  let userId: number;
  let otherUserId: number;
  let clientId: string;

  beforeAll(async () => {
    directory = await openDirectory();
    grants = new GrantRecordStore(directory.dataSource);
    const users = new UserStore(directory.dataSource);
    const passwordHash = await hashPassword('correct horse');
    const newUser = (username: string) =>
      users.create({ email: `${username}@example.com`, username, name: username, passwordHash });
    userId = (await newUser('ada')).id;
    otherUserId = (await newUser('grace')).id;
    const clients = new ClientStore(directory.dataSource);
    ({ clientId } = await clients.create({
      name: 'A',
      type: 'public',
      redirectUris: ['https://a.example/cb'],
    }));
  });
  afterAll(() => directory.close());

  async function granted(expiresAt = fromNow(90), user = userId): Promise<string> {
    const id = newId();
    await grants.create({ id, userId: user, clientId, scope: 'profile', askedScope: 'profile', expiresAt });
    return id;
  }
  async function row(id: string) {
    const rows = await directory.dataSource.query<{ used: string | null; expires: Date }[]>(
      'SELECT last_used_on::text AS used, expires_at AS expires FROM grants WHERE id = $1',
      [id],
    );
    return rows[0];
  }

  it('finds a grant as it was allowed', async () => {
    const id = await granted();
    const found = await grants.find(id);
    expect(found).toEqual({
      id,
      userId,
      clientId,
      scope: 'profile',
      createdAt: expect.any(Date),
      revokedAt: null,
    });
    expect(await grants.find(newId())).toBeNull();
  });

  it('deletes the same user’s expired grants when another one is allowed, in one round trip', async () => {
    const expired = await granted(fromNow(-1));
    const ofAnother = await granted(fromNow(-1), otherUserId);
    const live = await granted();
    const create = () =>
      grants.create({ id: newId(), userId, clientId, scope: '', askedScope: '', expiresAt: fromNow(90) });
    expect(await directory.statementsOf(create)).toHaveLength(1);
    expect(await grants.find(expired)).toBeNull();
    expect(await grants.find(ofAnother)).not.toBeNull();
    expect(await grants.find(live)).not.toBeNull();
  });

  it('revokes a grant once and for good', async () => {
    const id = await granted();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => grants.revoke(id)));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const revokedAt = (await grants.find(id))?.revokedAt;
    expect(revokedAt).toBeInstanceOf(Date);
    expect(await grants.revoke(id)).toBe(false);
    expect((await grants.find(id))?.revokedAt).toEqual(revokedAt);
    expect(await grants.revoke(newId())).toBe(false);
  });

  it('notes the last use of many grants by one statement, and only ever moves it forward', async () => {
    const [one, two] = [await granted(), await granted()];
    const uses = [
      { id: one, day: '2030-01-01' },
      { id: one, day: '2030-01-03' },
      { id: two, day: '2030-01-02' },
      { id: newId(), day: '2030-01-02' },
    ];
    expect(await directory.statementsOf(() => grants.touch(uses))).toHaveLength(1);
    await grants.touch([{ id: one, day: '2030-01-02' }]);
    expect((await row(one))?.used).toBe('2030-01-03');
    expect((await row(two))?.used).toBe('2030-01-02');
  });

  it('keeps a used grant for its whole lifetime after the day of its last use', async () => {
    const id = await granted(fromNow(90));
    await grants.touch([{ id, day: '2030-01-01' }]);
    const endOfDay = Date.parse('2030-01-02T00:00:00Z');
    expect(Math.abs(Number((await row(id))?.expires) - (endOfDay + 90 * DAY_MS))).toBeLessThan(60_000);
  });

  it('never shortens a grant by noting a use', async () => {
    const id = await granted(fromNow(90));
    const before = (await row(id))?.expires;
    await grants.touch([{ id, day: '2001-01-01' }]);
    expect((await row(id))?.expires).toEqual(before);
  });

  it('notes no use of a revoked grant, and sends nothing for no uses', async () => {
    const id = await granted();
    await grants.revoke(id);
    await grants.touch([{ id, day: '2030-01-01' }]);
    expect((await row(id))?.used).toBeNull();
    expect(await directory.statementsOf(() => grants.touch([]))).toEqual([]);
  });

  it('takes overlapping batches at once without a deadlock', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => granted()));
    const batch = (day: number) => ids.map((id) => ({ id, day: `2031-01-${String(day).padStart(2, '0')}` }));
    const days = Array.from({ length: 20 }, (_, index) => index + 1);
    await Promise.all(days.map((day) => grants.touch(day % 2 ? batch(day) : batch(day).toReversed())));
    expect((await row(ids[0]!))?.used).toBe('2031-01-20');
  });

  it('takes back a record as if it had never been', async () => {
    const id = await granted();
    await grants.withdraw(id);
    expect(await grants.find(id)).toBeNull();
    await grants.withdraw(id);
  });

  it('stores no handle: only the form of a SHA-256 digest is taken', async () => {
    const handle = randomBytes(16).toString('base64url');
    const create = grants.create({
      id: handle,
      userId,
      clientId,
      scope: '',
      askedScope: '',
      expiresAt: fromNow(1),
    });
    await expect(create).rejects.toThrow('grants_id_check');
  });
});
