import { DuplicateUserError } from '#database/user/user.js';
import { LOCALES } from '#oauth/locale.js';
import { hashPassword } from '#database/user/password.js';
import { UserStore } from '#database/user/user.store.js';
import { openDatabase, type OpenDatabase } from './open-database.js';

describe('UserStore', () => {
  let database: OpenDatabase;
  let users: UserStore;
  let passwordHash: string;

  beforeAll(async () => {
    database = await openDatabase();
    users = new UserStore(database.dataSource);
    passwordHash = await hashPassword('correct horse');
    await users.create({ email: 'Ada@Example.com', username: 'Ada', name: 'Ada Lovelace', passwordHash });
  });
  afterAll(() => database.close());

  it('creates a user with what /v2/me and the pages need', async () => {
    const email = 'grace@example.com';
    const created = await users.create({
      email,
      username: 'grace',
      name: 'Grace',
      timeZone: 'Europe/Berlin',
      passwordHash,
    });
    expect(created).toEqual({
      id: expect.any(Number),
      email,
      username: 'grace',
      name: 'Grace',
      timeZone: 'Europe/Berlin',
      avatarUrl: null,
      bio: null,
      timeFormat: 12,
      weekStart: 'Sunday',
      defaultScheduleId: null,
      organizationId: null,
      issuer: null,
      externalId: null,
      locale: null,
      sessionGeneration: expect.any(Number),
      disabled: false,
    });
    expect(await users.find(created.id)).toEqual(created);
  });

  it('defaults the time zone to UTC', async () => {
    expect((await users.findByLogin('ada'))?.user.timeZone).toBe('UTC');
  });

  it.each(['Ada@Example.com', 'ADA@EXAMPLE.COM', 'ada@example.com', 'Ada', 'aDA'])(
    'finds a user by %s, with the password hash apart from the user',
    async (login) => {
      const found = await users.findByLogin(login);
      expect(found).toMatchObject({ user: { username: 'Ada' }, passwordHash });
      expect(JSON.stringify(found?.user)).not.toContain('argon2');
    },
  );

  it('finds a user by one query', async () => {
    expect(await database.statementsOf(() => users.findByLogin('ada'))).toHaveLength(1);
  });

  it.each(['nobody', 'nobody@example.com', '', 'ada\0', 'a'.repeat(255), '%', "' OR 1=1 --"])(
    'finds no user %j',
    async (login) => {
      expect(await users.findByLogin(login)).toBeNull();
    },
  );

  it('returns null for an unknown user id', async () => {
    expect(await users.find(2_000_000_000)).toBeNull();
  });

  it.each([
    [{ email: 'ADA@example.com', username: 'other' }, ['email']],
    [{ email: 'other@example.com', username: 'ADA' }, ['username']],
    [{ email: 'ada@EXAMPLE.com', username: 'ada' }, ['email', 'username']],
  ])('refuses %j, which another user has, and names %j', async (taken, fields) => {
    const error = await users.create({ ...taken, name: 'X', passwordHash }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(DuplicateUserError);
    expect(error).toMatchObject({ fields });
  });

  it.each(['ada@home', 'with space', '', '-x', 'x'.repeat(65)])(
    'refuses the username %j',
    async (username) => {
      const create = users.create({ email: 'new@example.com', username, name: 'X', passwordHash });
      await expect(create).rejects.toThrow('users_username_check');
    },
  );

  it('replaces a hash only if it is still the one that was verified', async () => {
    const email = 'rehashed@example.com';
    const { id } = await users.create({ email, username: 'rehashed', name: 'X', passwordHash });
    const [one, two] = [await hashPassword('one'), await hashPassword('two')];
    expect(await users.replacePasswordHash(id, passwordHash, one)).toBe(true);
    expect(await users.replacePasswordHash(id, passwordHash, two)).toBe(false);
    expect((await users.findByLogin(email))?.passwordHash).toBe(one);
  });

  it('gives an unknown login the same hash of a user each time, in one query', async () => {
    const logins = Array.from({ length: 20 }, (_, index) => `nobody${index}@example.com`);
    for (const login of [
      ...logins,
      ...logins.map((email) => email.replace(/@.*/, '')),
      'a\0b',
      'x'.repeat(300),
    ]) {
      const found = await users.credentialsOf(login);
      expect(found).toEqual({ user: null, passwordHash: expect.stringContaining('$argon2id$') });
      expect(await users.credentialsOf(login.toUpperCase())).toEqual(found);
    }
    expect(await database.statementsOf(() => users.credentialsOf('nobody'))).toHaveLength(1);
    const known = await users.credentialsOf('ADA@example.com');
    expect(known).toEqual(await users.findByLogin('ada'));
  });

  describe('settings and sessions', () => {
    const newUser = async (username: string) =>
      (await users.create({ email: `${username}@example.com`, username, name: 'X', passwordHash })).id;

    it('stores the language a user chose, and removes it', async () => {
      const id = await newUser('babel');
      expect(await users.setLocale(id, 'ar')).toBe(true);
      expect((await users.find(id))?.locale).toBe('ar');
      expect((await users.findByLogin('babel'))?.user.locale).toBe('ar');
      await users.setLocale(id, null);
      expect((await users.find(id))?.locale).toBeNull();
      expect(await users.setLocale(2_000_000_000, 'de')).toBe(false);
    });

    it('accepts exactly the languages of the pages', async () => {
      const id = await newUser('polyglot');
      for (const locale of LOCALES) expect(await users.setLocale(id, locale)).toBe(true);
      for (const locale of ['EN', 'xx', '', 'pt-BR'])
        await expect(users.setLocale(id, locale)).rejects.toThrow('users_locale_check');
      const email = 'chosen@example.com';
      const chosen = await users.create({ email, username: 'chosen', name: 'X', locale: 'ja', passwordHash });
      expect(chosen.locale).toBe('ja');
    });

    it('increments the session generation once per request to end sessions, even concurrently', async () => {
      const id = await newUser('everywhere');
      const other = await newUser('elsewhere');
      const generationOf = async (user: number) => (await users.find(user))?.sessionGeneration ?? -1;
      const [before, elsewhere] = [await generationOf(id), await generationOf(other)];
      const generations = await Promise.all(Array.from({ length: 10 }, () => users.endSessions(id)));
      const after = generations.toSorted((a, b) => a - b).map((generation) => generation - before);
      expect(after).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(await generationOf(id)).toBe(before + 10);
      expect(await generationOf(other)).toBe(elsewhere);
      await expect(users.endSessions(2_000_000_000)).rejects.toThrow('there is no user 2000000000');
    });
  });

  it('refuses a password that is not hashed', async () => {
    const create = users.create({
      email: 'new@example.com',
      username: 'new',
      name: 'X',
      passwordHash: 'plain',
    });
    await expect(create).rejects.toThrow('users_password_hash_check');
  });
});
