import { hashPassword } from '#database/user/password.js';
import { DuplicateUserError } from '#database/user/user.js';
import { InvalidEmailError } from '#database/user/user-profile.js';
import { ExternalUserStore, type KnownUser } from '#database/user/external-user.store.js';
import { UserAccountStore } from '#database/user/user-account.store.js';
import { UserStore } from '#database/user/user.store.js';
import { openDatabase, type OpenDatabase } from './open-database.js';

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

/** Another user of the issuer at each call. */
function somebody(of: Partial<KnownUser> = {}): KnownUser {
  const externalId = `ext-${++number}`;
  return {
    identity: { issuer, externalId },
    profile: { email: `${externalId}@example.com` },
    linkByEmail: false,
    ...of,
  };
}
const local = (username: string) =>
  users.create({ email: `${username}@example.com`, username, name: 'Local', passwordHash });

it('creates a user with defaults, who cannot log in with a password', async () => {
  const known = somebody();
  const user = await external.bringUpToDate(known);
  expect(user).toEqual({
    id: expect.any(Number),
    ...known.identity,
    email: known.profile.email,
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

it('updates the fields that are given, removes those that are null, and keeps the others', async () => {
  const known = somebody();
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
  const before = await external.bringUpToDate({ ...known, profile: { ...full, locale: 'de-AT' } });
  expect(before).toMatchObject({ ...full, locale: 'de' });
  const profile = { email: 'new@example.com', bio: null, organizationId: null };
  const after = await external.bringUpToDate({ ...known, profile });
  expect(after).toEqual({ ...before, ...profile });
});

it('writes nothing if nothing has changed', async () => {
  const known = somebody();
  const { id } = await external.bringUpToDate(known);
  const version = () => database.dataSource.query('SELECT xmin FROM users WHERE id = $1', [id]);
  const before = await version();
  await external.bringUpToDate(known);
  expect(await version()).toEqual(before);
});

it('does not apply a change that is older than the stored one', async () => {
  const known = somebody({ updatedAt: new Date('2026-01-02') });
  const renamed = (name: string, updatedAt: string | null) =>
    external.bringUpToDate({
      ...known,
      profile: { ...known.profile, name },
      updatedAt: updatedAt === null ? null : new Date(updatedAt),
    });
  await external.bringUpToDate(known);
  expect((await renamed('Old', '2026-01-01')).name).toBe(known.profile.email);
  expect((await renamed('Same time', '2026-01-02')).name).toBe('Same time');
  expect((await renamed('Of unknown time', null)).name).toBe('Of unknown time');
  expect((await renamed('Old', '2026-01-01')).name).toBe('Of unknown time');
});

it('creates one user for an identity, however many requests create it at once', async () => {
  for (let round = 0; round < 10; round++) {
    const known = somebody();
    const ids = await Promise.all(Array.from({ length: 8 }, () => external.bringUpToDate(known)));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
  }
});

it('keeps users of two issuers apart, also with the same id, email and username', async () => {
  const known = somebody();
  const one = await external.bringUpToDate(known);
  const other = { issuer: 'https://other.example.com', externalId: known.identity.externalId };
  expect((await external.bringUpToDate({ ...known, identity: other })).id).not.toBe(one.id);
  expect((await external.bringUpToDate({ ...known, identity: somebody().identity })).id).not.toBe(one.id);
});

describe('a user without an identity who has the same email', () => {
  it('gets the identity only if linking is allowed', async () => {
    const { id, email } = await local('linked');
    const known = somebody({ profile: { email: email.toUpperCase(), name: 'Linked' } });
    const stranger = await external.bringUpToDate(known);
    expect(stranger.id).not.toBe(id);
    const another = { ...known, identity: somebody().identity, linkByEmail: true };
    expect(await external.bringUpToDate(another)).toMatchObject({ id, ...another.identity, name: 'Linked' });
    // They keep their password.
    expect((await users.findByLogin('linked'))?.passwordHash).toBe(passwordHash);
  });

  it('gets one identity, and keeps it', async () => {
    const { id, email } = await local('taken');
    const claims = Array.from({ length: 8 }, () => somebody({ profile: { email }, linkByEmail: true }));
    const found = await Promise.all(claims.map((claim) => external.bringUpToDate(claim)));
    expect(found.filter((user) => user.id === id)).toHaveLength(1);
    expect(new Set(found.map((user) => user.id)).size).toBe(8);
  });

  it('is not mixed up with the user who has the identity already', async () => {
    const known = somebody({ linkByEmail: true });
    const { id } = await external.bringUpToDate(known);
    const { email } = await local('separate');
    const moved = { ...known, profile: { email } };
    expect((await external.bringUpToDate(moved)).id).toBe(id);
    expect((await users.findByLogin('separate'))?.user.issuer).toBeNull();
  });

  it('can log in there, although a password needs a username of another form', async () => {
    const { id, email } = await local('formed');
    const known = somebody({ profile: { email, username: 'Ada Lovelace', name: 'Ada' }, linkByEmail: true });
    for (const again of ['Ada', 'Ada L.'])
      expect(
        await external.bringUpToDate({ ...known, profile: { ...known.profile, name: again } }),
      ).toMatchObject({ id, ...known.identity, name: again, username: 'formed' });
  });

  it('gets the identity once, though a request that does not link runs at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const { email } = await local(`race${round}`);
      const known = somebody({ profile: { email } });
      const both = [known, { ...known, linkByEmail: true }].map((one) => external.bringUpToDate(one));
      const [one, other] = await Promise.all(both);
      expect(one?.id).toBe(other?.id);
    }
  });
});

it('does not enable a disabled user', async () => {
  const known = somebody();
  const { id } = await external.bringUpToDate(known);
  await new UserAccountStore(database.dataSource).disable(id);
  expect(
    await external.bringUpToDate({ ...known, profile: { ...known.profile, name: 'New' } }),
  ).toMatchObject({
    name: 'New',
    disabled: true,
  });
});

it('enables a user by a newer change only, so that a repeated one does not undo what the operator did', async () => {
  const known = somebody({ updatedAt: '2026-01-02T00:00:00Z' });
  const change = { ...known, replacePassword: false, disabled: false, enable: true };
  const { id } = await external.bring(change);
  await new UserAccountStore(database.dataSource).disable(id);
  expect(await external.bring(change)).toMatchObject({ outcome: 'kept', disabled: true });
  const newer = { ...change, updatedAt: '2026-01-02T00:00:00.000001Z' };
  expect(await external.bring(newer)).toMatchObject({ outcome: 'updated', disabled: false });
});

it('refuses a user with a password the email of another one', async () => {
  await local('owner');
  const { email } = await local('mover');
  const known = somebody({ profile: { email }, linkByEmail: true });
  await external.bringUpToDate(known);
  const taken = { ...known, profile: { email: 'OWNER@example.com' } };
  await expect(external.bringUpToDate(taken)).rejects.toThrow(DuplicateUserError);
});

it('leaves out what it cannot store, and needs an email', async () => {
  const known = somebody();
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
  expect(await external.bringUpToDate({ ...known, profile })).toMatchObject({
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
  expect(await external.bringUpToDate({ ...known, profile: script })).toMatchObject({ avatarUrl: null });
  for (const email of ['', 'ada', 'a b@c', `${'x'.repeat(250)}@example.com`, 'a\0@b'])
    await expect(external.bringUpToDate({ ...known, profile: { email } })).rejects.toThrow(InvalidEmailError);
});

it('gives nobody an account whose email differs by more than the case of ASCII letters', async () => {
  // Most languages of PostgreSQL take the Kelvin sign for a K, and a mail server need not. The tests' server knows ASCII only.
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
    const known = somebody({ profile: { email: 'kay@example.com' }, linkByEmail: true });
    expect((await external.bringUpToDate(known)).id).not.toBe(id);
  } finally {
    await collate('default');
  }
});
