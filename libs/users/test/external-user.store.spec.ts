import { hashPassword } from '#users/password.js';
import { UPSERT_USERS } from '#users/external-user.statement.js';
import { DeletedUserError, DuplicateUserError } from '#users/user.js';
import { InvalidEmailError } from '#users/user-profile.js';
import { ExternalUserStore, type IdentifiedUser } from '#users/external-user.store.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { UserStore } from '#users/user.store.js';
import { blocked } from '#test/support/until.js';
import { openDatabase, type OpenDatabase } from '../../database/test/support/open-database.js';

const issuer = 'https://login.example.com';
let database: OpenDatabase;
let external: ExternalUserStore;
let users: UserStore;
let passwordHash: string;
let number = 0;

beforeAll(async () => {
  database = await openDatabase();
  external = new ExternalUserStore(database.dataSource);
  users = new UserStore(database.dataSource);
  passwordHash = await hashPassword('correct horse');
});
afterAll(() => database.close());

function newIdentity(values: Partial<IdentifiedUser> = {}): IdentifiedUser {
  const externalId = `ext-${++number}`;
  return {
    identity: { issuer, externalId },
    profile: { email: `${externalId}@example.com` },
    linkByEmail: false,
    ...values,
  };
}
const local = (username: string) =>
  users.create({ email: `${username}@example.com`, username, name: 'Local', passwordHash });

describe('ExternalUserStore', () => {
  it('creates a user with defaults who cannot log in with a password', async () => {
    const known = newIdentity();
    const user = await external.upsertIdentity(known);
    expect(user).toEqual({
      id: expect.any(Number),
      ...known.identity,
      email: known.profile.email,
      emailVerified: false,
      username: known.profile.email,
      name: known.profile.email,
      avatarUrl: null,
      bio: null,
      timeFormat: 12,
      weekStart: 'Sunday',
      timeZone: 'UTC',
      defaultScheduleId: null,
      organizationId: null,
      locale: null,
      sessionGeneration: expect.any(Number),
      disabled: false,
    });
    expect(await users.find(user.id)).toEqual(user);
    expect(await users.findByLogin(known.profile.email)).toBeNull();
  });

  it('updates given fields, clears null fields and keeps absent fields', async () => {
    const known = newIdentity();
    const full = {
      email: known.profile.email,
      username: 'Ada L.',
      name: 'Ada',
      avatarUrl: 'https://cdn.example.com/a.png',
      bio: 'Countess\nof Lovelace',
      timeFormat: 24 as const,
      weekStart: 'Monday',
      timeZone: 'Europe/London',
      defaultScheduleId: 7,
      organizationId: 8,
    };
    const before = await external.upsertIdentity({ ...known, profile: { ...full, locale: 'de-AT' } });
    expect(before).toMatchObject({ ...full, locale: 'de' });
    const profile = { email: 'new@example.com', bio: null, organizationId: null };
    const after = await external.upsertIdentity({ ...known, profile });
    expect(after).toEqual({ ...before, ...profile });
  });

  it('writes nothing if nothing has changed', async () => {
    const known = newIdentity();
    const { id } = await external.upsertIdentity(known);
    const version = () => database.dataSource.query('SELECT xmin FROM users WHERE id = $1', [id]);
    const before = await version();
    await external.upsertIdentity(known);
    expect(await version()).toEqual(before);
  });

  it('ignores a change that is older than the stored change', async () => {
    const known = newIdentity({ updatedAt: new Date('2026-01-02') });
    const renamed = (name: string, updatedAt: string | null) =>
      external.upsertIdentity({
        ...known,
        profile: { ...known.profile, name },
        updatedAt: updatedAt === null ? null : new Date(updatedAt),
      });
    await external.upsertIdentity(known);
    expect((await renamed('Old', '2026-01-01')).name).toBe(known.profile.email);
    expect((await renamed('Same time', '2026-01-02')).name).toBe('Same time');
    expect((await renamed('Of unknown time', null)).name).toBe('Of unknown time');
    expect((await renamed('Old', '2026-01-01')).name).toBe('Of unknown time');
  });

  it('creates one user for an identity under concurrent requests', async () => {
    for (let round = 0; round < 10; round++) {
      const known = newIdentity();
      const ids = await Promise.all(Array.from({ length: 8 }, () => external.upsertIdentity(known)));
      expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
    }
  });

  it('keeps users of two issuers separate, even with the same id, email and username', async () => {
    const known = newIdentity();
    const created = await external.upsertIdentity(known);
    const other = { issuer: 'https://other.example.com', externalId: known.identity.externalId };
    expect((await external.upsertIdentity({ ...known, identity: other })).id).not.toBe(created.id);
    expect((await external.upsertIdentity({ ...known, identity: newIdentity().identity })).id).not.toBe(
      created.id,
    );
  });

  describe('a user without an identity who has the same email', () => {
    it('gets the identity only if linking is allowed', async () => {
      const { id, email } = await local('linked');
      const known = newIdentity({ profile: { email: email.toUpperCase(), name: 'Linked' } });
      const unlinked = await external.upsertIdentity(known);
      expect(unlinked.id).not.toBe(id);
      const another = { ...known, identity: newIdentity().identity, linkByEmail: true };
      expect(await external.upsertIdentity(another)).toMatchObject({
        id,
        ...another.identity,
        name: 'Linked',
      });
      expect((await users.credentialsOf('linked')).passwordHash).toBe(passwordHash);
    });

    it('does not get the identity with an unverified email, which an attacker may have entered', async () => {
      const { email } = newIdentity().profile;
      const opened = { ...newIdentity({ profile: { email } }), identity: null, passwordHash };
      const rest = { replacePassword: false, disabled: false, enable: false };
      const { id } = await external.upsert({ ...opened, ...rest });
      const owner = newIdentity({ profile: { email }, emailVerified: true, linkByEmail: true });
      expect((await external.upsertIdentity(owner)).id).not.toBe(id);
      await external.upsert({ ...opened, ...rest, emailVerified: true });
      const another = { ...owner, identity: newIdentity().identity };
      expect((await external.upsertIdentity(another)).id).toBe(id);
    });

    it('gets one identity, and keeps it', async () => {
      const { id, email } = await local('taken');
      const claims = Array.from({ length: 8 }, () => newIdentity({ profile: { email }, linkByEmail: true }));
      const found = await Promise.all(claims.map((claim) => external.upsertIdentity(claim)));
      expect(found.filter((user) => user.id === id)).toHaveLength(1);
      expect(new Set(found.map((user) => user.id)).size).toBe(8);
    });

    it('is not confused with the user who already has the identity', async () => {
      const known = newIdentity({ linkByEmail: true });
      const { id } = await external.upsertIdentity(known);
      const { email } = await local('separate');
      const moved = { ...known, profile: { email } };
      expect((await external.upsertIdentity(moved)).id).toBe(id);
      expect((await users.findByLogin('separate'))?.issuer).toBeNull();
    });

    it('gets the identity but keeps the username if the new username is not allowed with a password', async () => {
      const { id, email } = await local('formed');
      const known = newIdentity({
        profile: { email, username: 'Ada Lovelace', name: 'Ada' },
        linkByEmail: true,
      });
      for (const again of ['Ada', 'Ada L.'])
        expect(
          await external.upsertIdentity({ ...known, profile: { ...known.profile, name: again } }),
        ).toMatchObject({ id, ...known.identity, name: again, username: 'formed' });
    });

    it('does not get an identity that a concurrent request without linking has given to a new user', async () => {
      for (let round = 0; round < 20; round++) {
        const { email } = await local(`race${round}`);
        const known = newIdentity({ profile: { email } });
        const both = [known, { ...known, linkByEmail: true }].map((user) => external.upsertIdentity(user));
        const [one, other] = await Promise.all(both);
        expect(one?.id).toBe(other?.id);
      }
    });
  });

  it('does not enable a disabled user', async () => {
    const known = newIdentity();
    const { id } = await external.upsertIdentity(known);
    await new UserAccountStore(database.dataSource).disable(id);
    expect(
      await external.upsertIdentity({ ...known, profile: { ...known.profile, name: 'New' } }),
    ).toMatchObject({
      name: 'New',
      disabled: true,
    });
  });

  describe('a user disabled by the product', () => {
    const accounts = () => new UserAccountStore(database.dataSource);
    const change = { replacePassword: false, disabled: false, enable: true };

    it('is enabled only by a newer change, not by a repeated change', async () => {
      const known = { ...change, ...newIdentity({ updatedAt: '2026-01-02T00:00:00Z' }) };
      await external.upsert(known);
      await accounts().disableIdentity(known.identity, '2026-01-02T00:00:00Z');
      expect(await external.upsert(known)).toMatchObject({ outcome: 'kept', disabled: true });
      const newer = { ...known, updatedAt: '2026-01-02T00:00:00.000001Z' };
      expect(await external.upsert(newer)).toMatchObject({ outcome: 'updated', disabled: false });
    });

    it('stays disabled once the operator also disables the user, regardless of the product’s changes and their order', async () => {
      for (let round = 0; round < 20; round++) {
        const known = { ...change, ...newIdentity({ updatedAt: '2026-01-02T00:00:00Z' }) };
        const { id } = await external.upsertIdentity(known);
        await accounts().disableIdentity(known.identity, '2026-01-03T00:00:00Z');
        await Promise.all([
          external.upsert({ ...known, updatedAt: '2026-01-04T00:00:00Z' }),
          accounts().disable(id),
        ]);
        expect(await accounts().details(id)).toMatchObject({ disabledBy: ['operator'] });
        // The product sent this change before the operator's change, but the change arrives later.
        const late = { ...known, updatedAt: '2026-01-05T00:00:00Z' };
        expect(await external.upsert(late)).toMatchObject({ outcome: 'updated', disabled: true });
      }
    });

    it('is enabled by the operator only with an override', async () => {
      const known = { ...change, ...newIdentity({ updatedAt: '2026-01-02T00:00:00Z' }) };
      const { id } = await external.upsertIdentity(known);
      await accounts().disableIdentity(known.identity, '2026-01-03T00:00:00Z');
      await accounts().disable(id);
      expect(await accounts().enable(id)).toEqual({
        disabledBefore: ['operator', 'product'],
        disabledBy: ['product'],
      });
      expect((await users.find(id))?.disabled).toBe(true);
      expect(await accounts().enable(id, true)).toEqual({ disabledBefore: ['product'], disabledBy: [] });
      expect((await users.find(id))?.disabled).toBe(false);
    });

    it('is created by an import of a disabled user only if the import has an identity', async () => {
      const imported = { ...change, enable: false, disabled: true };
      const [withIdentity, withoutIdentity] = [newIdentity(), newIdentity()].map((known) => ({
        ...imported,
        ...known,
      }));
      const results = [
        await external.upsert(withIdentity!),
        await external.upsert({ ...withoutIdentity!, identity: null }),
      ];
      const details = await Promise.all(results.map(({ id }) => accounts().details(id ?? 0)));
      expect(details.map((found) => found?.disabledBy)).toEqual([['product'], ['operator']]);
    });
  });

  describe('the email', () => {
    const stored = async (known: IdentifiedUser) => (await external.upsertIdentity(known)).emailVerified;

    it('is verified only by a claim of the issuer', async () => {
      expect(await stored(newIdentity())).toBe(false);
      expect(await stored(newIdentity({ emailVerified: false }))).toBe(false);
      expect(await stored(newIdentity({ emailVerified: true }))).toBe(true);
    });

    it('stays verified until the email changes or the issuer claims the opposite', async () => {
      const known = newIdentity({ emailVerified: true });
      await external.upsertIdentity(known);
      const silent = { ...known, emailVerified: undefined };
      expect(await stored(silent)).toBe(true);
      expect(await stored({ ...silent, profile: { email: known.profile.email.toUpperCase() } })).toBe(true);
      expect(await stored({ ...silent, profile: { email: 'other@example.com' } })).toBe(false);
      expect(await stored(known)).toBe(true);
      expect(await stored({ ...known, emailVerified: false })).toBe(false);
      expect(await stored(silent)).toBe(false);
    });

    it('is shown to applications only if it is verified', async () => {
      const known = newIdentity({ profile: { email: 'shown@example.com', username: 'Shown' } });
      const { id } = await external.upsertIdentity(known);
      expect(await users.profile(id)).toMatchObject({ email: null, username: 'Shown' });
      await external.upsertIdentity({ ...known, emailVerified: true });
      expect(await users.profile(id)).toMatchObject({ email: 'shown@example.com', username: 'Shown' });
    });
  });

  describe('a username', () => {
    const shown = async (known: IdentifiedUser) => {
      const { id } = await external.upsertIdentity(known);
      return async () => (await users.profile(id))?.username;
    };

    it('is shown to applications unless it looks like an unverified email', async () => {
      const email = 'named@example.com';
      const none = newIdentity({ profile: { email } });
      expect(await (await shown(none))()).toBeNull();
      expect(await (await shown({ ...none, emailVerified: true }))()).toBe(email);
      const other = { ...none, emailVerified: true, profile: { email, username: 'victim@example.com' } };
      expect(await (await shown(other))()).toBeNull();
      expect(await (await shown({ ...other, profile: { email, username: '@named' } }))()).toBe('@named');
    });

    it('is shown for the user who logs in with it, otherwise for the oldest user', async () => {
      const [one, two] = await Promise.all(
        ['Owned', 'OWNED'].map((username) =>
          shown(newIdentity({ profile: { email: `${username}@example.com`, username } })),
        ),
      );
      const named = [await one?.(), await two?.()];
      expect(named.filter((name) => name !== null)).toHaveLength(1);
      const { id } = await local('owned');
      expect((await users.profile(id))?.username).toBe('owned');
      expect([await one?.(), await two?.()]).toEqual([null, null]);
      await new UserAccountStore(database.dataSource).delete(id);
      expect([await one?.(), await two?.()]).toEqual(named);
    });
  });

  describe('a deleted identity', () => {
    const accounts = () => new UserAccountStore(database.dataSource);
    const at = (day: number) => `2026-01-0${day}T00:00:00Z`;
    const change = (known: IdentifiedUser, day: number) =>
      external.upsert({
        ...known,
        updatedAt: at(day),
        replacePassword: false,
        disabled: false,
        enable: false,
      });
    const isKnown = async ({ identity }: IdentifiedUser) =>
      (await accounts().matching(identity.externalId)).length === 1;

    it('gets a new user by a change or login after the deletion, but not by a change before the deletion', async () => {
      const known = newIdentity();
      const { id } = await change(known, 1);
      expect(await accounts().deleteIdentity(known.identity, at(3))).toMatchObject({
        outcome: 'deleted',
        id,
      });
      for (const day of [2, 3])
        expect(await change(known, day)).toMatchObject({ outcome: 'deleted', id: null });
      const login = { ...known, assertedAt: new Date(at(2)) };
      await expect(external.upsertIdentity(login)).rejects.toThrow(DeletedUserError);
      expect(await isKnown(known)).toBe(false);
      expect(await external.upsertIdentity({ ...known, assertedAt: new Date(at(4)) })).not.toMatchObject({
        id,
      });
      expect(await accounts().deleteIdentity(known.identity, at(5))).toMatchObject({ outcome: 'deleted' });
      expect(await change(known, 6)).toMatchObject({ outcome: 'created' });
    });

    it('is recorded even if no user had it, or if the operator deleted the user', async () => {
      const known = newIdentity();
      expect(await accounts().deleteIdentity(known.identity, at(2))).toMatchObject({ outcome: 'unknown' });
      expect(await accounts().deleteIdentity(known.identity, at(2))).toMatchObject({
        outcome: 'deleted_before',
      });
      expect(await change(known, 1)).toMatchObject({ outcome: 'deleted' });
      const other = newIdentity();
      await accounts().delete((await change(other, 1)).id ?? 0);
      expect(await change(other, 2)).toMatchObject({ outcome: 'deleted' });
    });

    it('is not linked to a user with the same email', async () => {
      const { email } = await local('linked-late');
      const known = newIdentity({ profile: { email }, linkByEmail: true });
      await accounts().deleteIdentity(known.identity, at(2));
      expect(await change(known, 1)).toMatchObject({ outcome: 'deleted' });
      expect((await users.findByLogin('linked-late'))?.issuer).toBeNull();
    });

    it('keeps its user if a change newer than the deletion was applied', async () => {
      const known = newIdentity();
      const { id } = await change(known, 3);
      expect(await accounts().deleteIdentity(known.identity, at(2))).toMatchObject({ outcome: 'stale', id });
      expect(await isKnown(known)).toBe(true);
    });

    it('has no user after a deletion and older changes, in any order', async () => {
      for (let round = 0; round < 20; round++) {
        const known = newIdentity();
        if (round % 2 === 0) await change(known, 1);
        await Promise.all([
          change(known, 1),
          accounts().deleteIdentity(known.identity, at(3)),
          external.upsertIdentity({ ...known, assertedAt: new Date(at(2)) }).catch(() => undefined),
          change(known, 2),
        ]);
        expect(await isKnown(known)).toBe(false);
      }
    });

    it('has a user after a deletion and a newer change, in any order', async () => {
      for (let round = 0; round < 20; round++) {
        const known = newIdentity();
        await change(known, 1);
        await Promise.all([accounts().deleteIdentity(known.identity, at(2)), change(known, 3)]);
        expect(await isKnown(known)).toBe(true);
      }
    });

    it('has no user even if a concurrent statement creates the user before the deletion', async () => {
      const known = newIdentity();
      const runner = database.dataSource.createQueryRunner();
      await runner.startTransaction();
      const line = {
        issuer: known.identity.issuer,
        external_id: known.identity.externalId,
        updated_at: at(1),
      };
      await runner.query(UPSERT_USERS, [JSON.stringify([{ ...line, ...known.profile }])]);
      const deleting = accounts().deleteIdentity(known.identity, at(2));
      await blocked(database);
      await runner.commitTransaction();
      await runner.release();
      expect(await deleting).toMatchObject({ outcome: 'deleted' });
      expect(await isKnown(known)).toBe(false);
    });

    it('is recorded as a hash, for 90 days', async () => {
      const known = newIdentity();
      await accounts().deleteIdentity(known.identity, at(2));
      const rows = () => database.dataSource.query<object[]>('SELECT * FROM deleted_identities');
      expect(JSON.stringify(await rows())).not.toContain(known.identity.externalId);
      await database.dataSource.query(
        `UPDATE deleted_identities SET expires_at = expires_at - interval '90 days'`,
      );
      await accounts().deleteIdentity(newIdentity().identity, at(2));
      expect(await rows()).toHaveLength(1);
    });
  });

  it('rejects the email of another user for a user with a password', async () => {
    await local('owner');
    const { email } = await local('mover');
    const known = newIdentity({ profile: { email }, linkByEmail: true });
    await external.upsertIdentity(known);
    const taken = { ...known, profile: { email: 'OWNER@example.com' } };
    await expect(external.upsertIdentity(taken)).rejects.toThrow(DuplicateUserError);
  });

  it('drops invalid fields, and requires an email', async () => {
    const known = newIdentity();
    const profile = {
      email: known.profile.email,
      username: 'a\0b',
      name: '\u{1F600}'.repeat(200),
      bio: 'x'.repeat(3000),
      timeZone: 'Mars/Olympus',
      weekStart: 'Caturday',
      locale: 'xx-YY',
      organizationId: 2 ** 40,
      avatarUrl: 'not a URL',
    };
    expect(await external.upsertIdentity({ ...known, profile })).toMatchObject({
      username: known.profile.email,
      name: '\u{1F600}'.repeat(100),
      bio: null,
      timeZone: 'UTC',
      weekStart: 'Sunday',
      locale: null,
      organizationId: null,
      avatarUrl: null,
    });
    const script = { email: known.profile.email, avatarUrl: 'javascript:alert(1)' };
    expect(await external.upsertIdentity({ ...known, profile: script })).toMatchObject({ avatarUrl: null });
    for (const email of ['', 'ada', 'a b@c', `${'x'.repeat(250)}@example.com`, 'a\0@b'])
      await expect(external.upsertIdentity({ ...known, profile: { email } })).rejects.toThrow(
        InvalidEmailError,
      );
  });

  it('does not link an account whose email differs by more than the case of ASCII letters', async () => {
    // Most collations equate the Kelvin sign and K, unlike the test server's collation.
    const collate = (name: string) =>
      database.dataSource.query(`ALTER TABLE users ALTER COLUMN email TYPE text COLLATE "${name}"`);
    await collate('und-x-icu');
    try {
      const { id } = await users.create({
        email: '\u212Aay@example.com',
        username: 'kay',
        name: 'Kay',
        passwordHash,
      });
      const known = newIdentity({ profile: { email: 'kay@example.com' }, linkByEmail: true });
      expect((await external.upsertIdentity(known)).id).not.toBe(id);
    } finally {
      await collate('default');
    }
  });
});
