import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { UserStore } from '#users/user.store.js';
import { databaseDataSource } from '#database/data-source.js';
import { verifyPassword } from '#users/password.js';
import { appSettings } from '#test/support/app-settings.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS } from '#test/support/keys.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startAppInProcess, type AppInProcess } from '#test/support/app-in-process.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { until } from '#test/support/until.js';
import { runOperator } from '../support/run-operator.js';
import { runCommand, useOperator } from '../support/use-operator.js';

describe('operator user create', () => {
  const operator = useOperator();

  const create = (args: string[], stdin?: string | Buffer) =>
    operator.run(['user', 'create', ...args], operator.env, stdin);
  const named = (username: string) => [
    '--email',
    `${username}@example.com`,
    '--username',
    username,
    '--name',
    'A User',
  ];
  const logsIn = async (login: string, password: string) => {
    const source = await databaseDataSource(operator.databaseUrl).initialize();
    const found = await new UserStore(source).credentialsOf(login);
    await source.destroy();
    return verifyPassword(password, found.passwordHash);
  };

  it('prints a generated password, which works for the login', async () => {
    const { code, stdout, stderr } = await create([
      ...named('ada'),
      '--time-zone',
      'Europe/London',
      '--json',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const created = JSON.parse(stdout) as { password: string };
    expect(created).toEqual({
      id: expect.any(Number),
      email: 'ada@example.com',
      username: 'ada',
      name: 'A User',
      time_zone: 'Europe/London',
      locale: null,
      password: expect.stringMatching(/^[\w-]{24}$/),
    });
    expect(await logsIn('ADA@example.com', created.password)).toBe(true);
  });

  it('reads the password from a pipe when run as a separate process', async () => {
    const args = ['user', 'create', ...named('piped'), '--password-stdin'];
    expect(await runOperator(args, operator.env, 'correct horse pipe\n')).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(await logsIn('piped', 'correct horse pipe')).toBe(true);
  });

  it('refuses a password that is not UTF-8, and writes nothing', async () => {
    const before = await operator.counts();
    const args = [...named('latin1'), '--password-stdin'];
    const { code, stdout, stderr } = await create(args, Buffer.from('pässwörd\n', 'latin1'));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/the password on stdin is not valid UTF-8: convert it/);
    expect(await operator.counts()).toEqual(before);
  });

  it('reads the password from one line of stdin and does not print it', async () => {
    const given: [string, string][] = [
      ['correct horse battery\n', 'correct horse battery'],
      ['correct horse staple\r\nignored', 'correct horse staple'],
      ['pässwörd with no line ending', 'pässwörd with no line ending'],
      [`${'x'.repeat(256)}\n`, 'x'.repeat(256)],
    ];
    const run = ([stdin]: [string, string], index: number) =>
      create([...named(`user${index}`), '--password-stdin'], stdin);
    for (const [index, { code, stdout, stderr }] of (await Promise.all(given.map(run))).entries()) {
      const [, password] = given[index]!;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).not.toContain(password);
      expect(await logsIn(`user${index}`, password)).toBe(true);
    }
  });

  it('sets the language of the pages, which user update changes or removes', async () => {
    const user = (...args: string[]) => operator.run(['user', ...args]);
    const created = await user('create', ...named('lang'), '--locale', 'de', '--json');
    expect(JSON.parse(created.stdout)).toMatchObject({ locale: 'de' });
    const update = (...args: string[]) => user('update', ...args);
    const localeOf = async () =>
      (await operator.rows<{ locale: string | null }>(`SELECT locale FROM users WHERE username = 'lang'`))[0];
    expect(await localeOf()).toEqual({ locale: 'de' });
    expect(await update('LANG@example.com', '--locale', 'ar')).toEqual({
      code: 0,
      stderr: '',
      stdout: 'lang now sees the pages in Arabic (ar).\n',
    });
    expect(await localeOf()).toEqual({ locale: 'ar' });
    const removed = await update('lang', '--locale', 'none', '--json');
    expect(JSON.parse(removed.stdout)).toEqual({ username: 'lang', locale: null });
    expect(await localeOf()).toEqual({ locale: null });
    const wrong: [string[], RegExp][] = [
      [['update', 'lang', '--locale', 'xx'], /--locale must be one of en, de, /],
      [['update', 'lang', '--locale', 'ar-EG'], /one of en, .*, ar, with no region, or none/],
      [['update', 'lang'], /--locale must be one of/],
      [['update', 'nobody', '--locale', 'de'], /no user "nobody"/],
      [['create', ...named('none'), '--locale', 'none'], /--locale must be one of/],
    ];
    for (const [args, problem] of wrong) {
      const { code, stdout, stderr } = await user(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(problem);
    }
    expect(await localeOf()).toEqual({ locale: null });
  });

  it('reports every problem in the input, writes nothing and prints no password', async () => {
    expect((await create([...named('grace')])).code).toBe(0);
    const before = await operator.counts();
    const wrong: [string[], string | undefined, RegExp[]][] = [
      [[], undefined, [/--email must/, /--username must/, /--name must/]],
      [
        ['--email', 'x', '--username', 'a@b', '--name', '', '--time-zone', 'Mars/Base', '--password-stdin'],
        'short\n',
        [/--email must/, /--username must/, /--name must/, /--time-zone must be an IANA name/, /8 to 256/],
      ],
      [[...named('a'), '--time-zone', '+01:00', '--password-stdin'], '', [/--time-zone/, /8 to 256/]],
      [[...named('c'), '--password-stdin'], `${'y'.repeat(257)}\n`, [/8 to 256/]],
      [[...named('e'), '--password-stdin'], 'with a nul \0\n', [/NUL/]],
      [[...named('f'), '--password-stdin'], 'with a bell \x07\n', [/control/]],
      [
        ['--email', 'GRACE@example.com', '--username', 'Grace', '--name', 'G'],
        undefined,
        [/--email: another user/, /--username: another user/],
      ],
    ];
    const outcomes = await Promise.all(wrong.map(([args, stdin]) => create(args, stdin)));
    for (const [index, { code, stdout, stderr }] of outcomes.entries()) {
      const [, stdin, problems] = wrong[index]!;
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      for (const problem of problems) expect(stderr).toMatch(problem);
      if (stdin) expect(stderr).not.toContain(stdin.trim());
    }
    expect(await operator.counts()).toEqual(before);
  });
});

describe('user logout', () => {
  let services: Isolated;
  let fixture: Fixture;
  let token: AppInProcess;
  let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;
  let env: Record<string, string>;

  beforeAll(async () => {
    services = await isolate();
    receiver = await startLogoutReceiver();
    env = { ...appSettings(services), TOKEN_KEYS: randomBytes(32).toString('base64url') };
    const openid = { ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' };
    token = await startAppInProcess('token', { ...env, ...openid });
    fixture = await openFixture(services, env['TOKEN_KEYS'] ?? '');
  });

  afterAll(async () => {
    await token.stop();
    receiver.close();
    await fixture.close();
    await services.close();
  });

  async function loggedInUser(): Promise<{ userId: number; path: string }> {
    const [userId, session] = [await fixture.user(), randomBytes(32).toString('base64url')];
    const path = `/${session}`;
    await fixture.sessionClient(receiver.url + path, userId, session);
    return { userId, path };
  }

  it.each([
    ['user logout', []],
    ['user disable', []],
    ['user delete', ['--yes']],
    ['user set-password', ['--end-sessions']],
  ])('%s ends every session of the user at each application', async (command, options) => {
    const { userId, path } = await loggedInUser();
    const { code, stderr } = await runCommand([...command.split(' '), `id:${userId}`, ...options], env);
    expect([code, stderr]).toEqual([0, '']);
    await until('a logout token', 60_000, () => receiver.at(path).length > 0);
    const claims = decodeJwt(receiver.at(path)[0]?.token ?? '');
    expect(claims.sub).toBe(String(userId));
    expect(claims).not.toHaveProperty('sid');
  });
});
