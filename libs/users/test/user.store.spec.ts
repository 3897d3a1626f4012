import { DuplicateUserError } from '#users/user.js';
import { LOCALES } from '#oauth/locale.js';
import { hashPassword } from '#users/password.js';
import { MAX_PASSWORD_KINDS, UserStore } from '#users/user.store.js';
import { openDatabase, type OpenDatabase } from '../../database/test/support/open-database.js';

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

  it('creates a user with the fields of /v2/me and the pages', async () => {
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
      emailVerified: true,
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
    expect((await users.findByLogin('ada'))?.timeZone).toBe('UTC');
  });

  it.each(['Ada@Example.com', 'ADA@EXAMPLE.COM', 'ada@example.com', 'Ada', 'aDA'])(
    'finds a user by %s, and returns the password hash separately',
    async (login) => {
      const found = await users.credentialsOf(login);
      expect(found).toMatchObject({ user: { username: 'Ada' }, passwordHash });
      expect(JSON.stringify(found.user)).not.toContain('argon2');
      expect(await users.findByLogin(login)).toEqual(found.user);
    },
  );

  it('finds a user with one query', async () => {
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
  ])('rejects %j of another user, and names the fields %j', async (taken, fields) => {
    const error = await users.create({ ...taken, name: 'X', passwordHash }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(DuplicateUserError);
    expect(error).toMatchObject({ fields });
  });

  it.each(['ada@home', 'with space', '', '-x', 'x'.repeat(65)])(
    'rejects the username %j',
    async (username) => {
      const create = users.create({ email: 'new@example.com', username, name: 'X', passwordHash });
      await expect(create).rejects.toThrow('users_username_check');
    },
  );

  it('replaces a hash only if the verified hash is still stored', async () => {
    const email = 'rehashed@example.com';
    const { id } = await users.create({ email, username: 'rehashed', name: 'X', passwordHash });
    const [one, two] = [await hashPassword('one'), await hashPassword('two')];
    expect(await users.replacePasswordHash(id, passwordHash, one)).toBe(true);
    expect(await users.replacePasswordHash(id, passwordHash, two)).toBe(false);
    expect((await users.credentialsOf(email)).passwordHash).toBe(one);
  });

  describe('credentials', () => {
    const OWN =
      '$argon2id$v=19$m=19456,t=2,p=1$wVu0N+Y8Esil8EZzaSaYbw$MmxNIZbSl0j5K9gX5pOQtYeIoqYBuUbpYOxwrFoBRfc';
    const KINDS = {
      ours: OWN,
      cheap: '$argon2id$v=19$m=1024,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
      bcrypt10: '$2b$10$abcdefghijklmnopqrstuugI0TpnfjLM21wj3AgqJIKItpWVQFXU2',
      bcrypt10OfPhp: '$2y$10$abcdefghijklmnopqrstuugI0TpnfjLM21wj3AgqJIKItpWVQFXU2',
      bcrypt12: '$2a$12$abcdefghijklmnopqrstuugI0TpnfjLM21wj3AgqJIKItpWVQFXU2',
    };
    const costOf = (hash: string) => hash.replace(/^\$2.(\$\d\d)\$.*/, '$1').replace(/(,p=\d+)\$.*/, '$1');
    const workFor = async (login: string) => {
      const { passwordHash: own, others } = await users.credentialsOf(login);
      const hashes = others.map(({ passwordHash }) => passwordHash);
      return [...(own === null ? [] : [own]), ...hashes].map(costOf).toSorted();
    };
    const insert = (username: string, hash: string) =>
      users.create({ email: `${username}@example.com`, username, name: 'X', passwordHash: hash });

    beforeEach(() => database.dataSource.query('TRUNCATE users CASCADE'));

    it('contain one hash of each kind, including the user’s own', async () => {
      for (const [username, hash] of Object.entries(KINDS)) await insert(username, hash);
      const unknown = await workFor('nobody');
      expect(unknown).toEqual([...new Set(Object.values(KINDS).map(costOf))].toSorted());
      for (const [username, hash] of Object.entries(KINDS)) {
        expect((await users.credentialsOf(username)).passwordHash).toBe(hash);
        expect((await users.credentialsOf(username)).user?.username).toBe(username);
        for (const login of [username, `${username.toUpperCase()}@EXAMPLE.COM`])
          expect(await workFor(login)).toEqual(unknown);
      }
      for (const login of ['nobody@example.com', 'a\0b', 'x'.repeat(300)])
        expect(await users.credentialsOf(login)).toEqual(await users.credentialsOf('nobody'));
    });

    it('contain only the user’s own hash if all are of one kind', async () => {
      const { id: userId } = await insert('one', OWN);
      await insert('two', OWN.replace(/.$/, OWN.endsWith('a') ? 'b' : 'a'));
      expect(await users.credentialsOf('two')).toMatchObject({ user: { username: 'two' }, others: [] });
      expect(await users.credentialsOf('nobody')).toMatchObject({
        user: null,
        others: [{ userId, passwordHash: OWN }],
      });
    });

    it('contain the same limited number of hashes for known and unknown users', async () => {
      const kinds = Array.from({ length: MAX_PASSWORD_KINDS + 3 }, (_, n) =>
        KINDS.cheap.replace('1024', `${2048 + n}`),
      );
      for (const [n, hash] of kinds.entries()) await insert(`user${n}`, hash);
      for (const login of ['nobody', ...kinds.map((_, n) => `user${n}`)])
        expect(await workFor(login)).toHaveLength(MAX_PASSWORD_KINDS);
    });

    it('are read with one statement that uses only indexes', async () => {
      await database.dataSource.query(
        `INSERT INTO users (email, username, name, password_hash)
         SELECT 'u' || n || '@example.com', 'u' || n, 'X', CASE WHEN n % 200 = 0 THEN $1 ELSE $2 END
         FROM generate_series(1, 4000) n`,
        [KINDS.bcrypt12, OWN],
      );
      await database.dataSource.query('ANALYZE users');
      const [statement = '', ...more] = await database.statementsOf(() => users.credentialsOf('nobody'));
      expect(more).toEqual([]);
      const plan = JSON.stringify(await database.dataSource.query(`EXPLAIN ${statement}`, ['nobody']));
      expect(plan.split('users_password_kind')).toHaveLength(3);
      expect(plan).not.toContain('Seq Scan on users');
      expect(await workFor('u1000')).toEqual(await workFor('nobody'));
    });
  });

  describe('settings and sessions', () => {
    const newUser = async (username: string) =>
      (await users.create({ email: `${username}@example.com`, username, name: 'X', passwordHash })).id;

    it('stores and removes the language that a user chose', async () => {
      const id = await newUser('babel');
      expect(await users.setLocale(id, 'ar')).toBe(true);
      expect((await users.find(id))?.locale).toBe('ar');
      expect((await users.findByLogin('babel'))?.locale).toBe('ar');
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

    it('increments the session generation for each concurrent call of endSessions', async () => {
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

  it('rejects a password that is not hashed', async () => {
    const create = users.create({
      email: 'new@example.com',
      username: 'new',
      name: 'X',
      passwordHash: 'plain',
    });
    await expect(create).rejects.toThrow('users_password_hash_check');
  });
});
