import { databaseDataSource } from '#database/data-source.js';
import { verifyPassword } from '#users/password.js';
import { UserStore } from '#users/user.store.js';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

// test/end-to-end/gone-user.long.spec.ts tests the end of access with the whole product.
const operator = useOperator();

const user = (...args: string[]) => operator.run(['user', ...args]);

async function made(username: string, name = 'A User'): Promise<number> {
  const args = ['--email', `${username}@example.com`, '--username', username, '--name', name, '--json'];
  return (jsonOf(await user('create', ...args)) as { id: number }).id;
}

describe('operator user list', () => {
  it('lists users, newest first, without password hashes', async () => {
    const ids = [await made('ada', 'Ada Lovelace'), await made('grace', 'Grace Hopper')];
    await operator.rows('UPDATE users SET operator_disabled_at = now() WHERE id = $1', [ids[1]]);
    const listed = await user('list', '--json');
    const day = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
    const ada = { username: 'ada', email: 'ada@example.com', name: 'Ada Lovelace' };
    const grace = { username: 'grace', email: 'grace@example.com', name: 'Grace Hopper' };
    expect(jsonOf(listed)).toEqual([
      { id: ids[1], ...grace, created_at: day, disabled_at: day, disabled_by: ['operator'] },
      { id: ids[0], ...ada, created_at: day, disabled_at: null, disabled_by: [] },
    ]);
    const { stdout } = await user('list');
    const [heading, second, first] = stdout.split('\n');
    expect(heading).toMatch(/^id +username +email +created_at +disabled_at +disabled_by +name$/);
    expect(first).toMatch(/^\d+ +ada +ada@example\.com +[\d-]{10} \d\d:\d\d +Ada Lovelace$/);
    expect(second).toMatch(
      /^\d+ +grace +grace@example\.com +[\d-]{10} \d\d:\d\d +[\d-]{10} \d\d:\d\d +operator +Grace Hopper$/,
    );
    for (const text of [listed.stdout, stdout]) expect(text).not.toMatch(/argon2|hash/);
  });

  it('searches email, username and name, and prints the results in pages', async () => {
    const ids = [];
    for (const name of ['one', 'two', 'three']) ids.unshift(await made(`page-${name}`, 'Pat Page'));
    const page = async (...args: string[]) =>
      (
        JSON.parse((await user('list', '--search', 'PAT page', '--json', ...args)).stdout) as { id: number }[]
      ).map(({ id }) => id);
    expect(await page()).toEqual(ids);
    expect(await page('--limit', '2')).toEqual(ids.slice(0, 2));
    const { stderr } = await user('list', '--search', 'page-', '--limit', '2', '--json');
    const [, next = ''] = /^For the next page, add --cursor (\S+)$/m.exec(stderr) ?? [];
    expect(await page('--limit', '2', '--cursor', next)).toEqual(ids.slice(2));
    expect((await user('list', '--search', 'page-', '--limit', '3')).stderr).toBe('');
    expect(await page('--state', 'disabled')).toEqual([]);
    expect((await user('list', '--search', 'nobody at all')).stdout).toBe('No users found.\n');
    expect(jsonOf(await user('list', '--search', 'nobody at all', '--json'))).toEqual([]);
  });

  it('escapes control characters in names', async () => {
    const id = await made('esc');
    await operator.rows('UPDATE users SET name = $2 WHERE id = $1', [id, 'E\u001b[2J\u009b\u202eC\n']);
    const { stdout } = await user('list', '--search', 'esc');
    expect(stdout).toContain('E\uFFFD[2J\uFFFD\uFFFDC\uFFFD');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
    const json = await user('list', '--search', 'esc', '--json');
    expect(json.stdout.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
    expect(jsonOf(json)).toMatchObject([{ name: 'E\u001b[2J\u009b\u202eC\n' }]);
  });

  it.each([
    [['--limit', '0'], /--limit must be a whole number from 1 to 1000/],
    [['--limit', '1001'], /--limit must/],
    [['--limit', 'many'], /--limit must/],
    [['--limit', '1.5'], /--limit must/],
    [['--cursor', 'x'], /--cursor is not a cursor of this list/],
    [['--state', 'x'], /--state "x" is unknown/],
    [['--search', 'a', '--search', 'b'], /--search is given twice/],
  ])('refuses %j', async (args, problem) => {
    expectRefused(await user('list', ...args), problem);
  });
});

describe('operator user show', () => {
  it('finds a user by every identifier, and does not show the password hash', async () => {
    const id = await made('shown', 'Sho Wn');
    await operator.rows(
      "UPDATE users SET issuer = 'https://login.example', external_id = 'ext-1' WHERE id = $1",
      [id],
    );
    const shown = jsonOf(await user('show', 'SHOWN@example.com', '--json'));
    expect(shown).toEqual({
      id,
      username: 'shown',
      email: 'shown@example.com',
      email_verified: true,
      name: 'Sho Wn',
      issuer: 'https://login.example',
      external_id: 'ext-1',
      has_password: true,
      time_zone: 'UTC',
      locale: null,
      organization_id: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      disabled_at: null,
      disabled_by: [],
      live_grants: 0,
      version: expect.any(Number),
    });
    for (const login of ['shown', 'ext-1', `id:${id}`])
      expect(jsonOf(await user('show', login, '--json'))).toEqual(shown);
    expect((await user('show', 'shown')).stdout).toMatch(/^has_password +yes$/m);
  });

  it('counts live grants only', async () => {
    const id = await made('granting');
    const client = jsonOf(
      await operator.run([
        'client',
        'create',
        '--name',
        'A',
        '--redirect-uri',
        'https://a.example/cb',
        '--json',
      ]),
    ) as { client_id: string };
    const states = [
      "now() + interval '1 day', NULL",
      "now() - interval '1 day', NULL",
      "now() + interval '1 day', now()",
    ];
    for (const [index, state] of states.entries())
      await operator.rows(
        `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, resources, lifetime, expires_at, revoked_at)
         SELECT $1, $2, $3, 'profile:read', 'profile:read', '', interval '1 day', ${state}`,
        [String(index).repeat(43), id, client.client_id],
      );
    expect(jsonOf(await user('show', 'granting', '--json'))).toMatchObject({ live_grants: 1 });
  });

  it('escapes control characters', async () => {
    const id = await made('esc-show');
    await operator.rows('UPDATE users SET name = $2 WHERE id = $1', [id, 'E\u001b[2J\u009bC']);
    expect((await user('show', 'esc-show')).stdout).toContain('E\uFFFD[2J\uFFFDC');
  });
});

describe('operator user set-password', () => {
  const logsIn = async (login: string, password: string) => {
    const source = await databaseDataSource(operator.databaseUrl).initialize();
    const found = await new UserStore(source).credentialsOf(login);
    await source.destroy();
    return verifyPassword(password, found.passwordHash);
  };
  const generation = async (id: number) =>
    (
      await operator.rows<{ generation: number }>(
        'SELECT session_generation AS generation FROM users WHERE id = $1',
        [id],
      )
    )[0]?.generation ?? -1;

  it('generates a password, prints it once, and ends sessions only with --end-sessions', async () => {
    const id = await made('new-one');
    const before = await generation(id);
    const set = (await user('set-password', 'NEW-ONE@example.com')).stdout;
    const [, password = ''] = /^ {2}([\w-]{24})$/m.exec(set) ?? [];
    expect(set).toMatch(
      /^Changed the password of new-one\. Open sessions stay open: --end-sessions ends them\.\n/,
    );
    expect(await logsIn('new-one', password)).toBe(true);
    expect(await generation(id)).toBe(before);
    const again = jsonOf(await user('set-password', 'new-one', '--end-sessions', '--json'));
    expect(again).toEqual({
      id,
      username: 'new-one',
      password: expect.stringMatching(/^[\w-]{24}$/),
      sessions_ended: true,
    });
    expect(await logsIn('new-one', password)).toBe(false);
    expect(await logsIn('new-one', (again as { password: string }).password)).toBe(true);
    expect(await generation(id)).toBe(before + 1);
  });

  it('reads a password from stdin, and does not print it', async () => {
    await made('piped');
    const args = ['user', 'set-password', 'piped', '--password-stdin'];
    const { code, stdout, stderr } = await operator.run(args, operator.env, 'correct horse pipe\n');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stderr: '',
      stdout: 'Changed the password of piped. Open sessions stay open: --end-sessions ends them.\n',
    });
    expect(await logsIn('piped', 'correct horse pipe')).toBe(true);
    const json = await operator.run([...args, '--json'], operator.env, 'correct horse again\n');
    expect(jsonOf(json)).toMatchObject({ password: null, sessions_ended: false });
    const short = await operator.run(args, operator.env, 'short\n');
    expectRefused(short, /8 to 256/);
    expect(short.stderr).not.toContain('short');
    expect(await logsIn('piped', 'correct horse again')).toBe(true);
  });
});

describe('a user command', () => {
  it.each([
    ['show'],
    ['disable'],
    ['enable'],
    ['set-password'],
    ['delete', '--yes'],
    ['update', '--locale', 'de'],
  ])('%s exits with 2 for an unknown user', async (command, ...more) => {
    for (const login of ['no-body', 'no-body@example.com', 'no\u001b[2Jbody']) {
      const outcome = await user(command, login, ...more);
      expectRefused(outcome, /^error: there is no user "no.*body.*". See:\n {2}operator user list\n$/);
      expect(outcome.stderr).not.toContain('\u001b');
    }
  });

  it('delete exits with 2 and changes nothing without --yes', async () => {
    const id = await made('unsure');
    expectRefused(await user('delete', 'unsure'), /--yes is missing/);
    expect(await operator.rows('SELECT disabled_at FROM users WHERE id = $1', [id])).toEqual([
      { disabled_at: null },
    ]);
  });

  it('enable reports whether the user was disabled', async () => {
    const id = await made('off');
    await operator.rows('UPDATE users SET operator_disabled_at = now() WHERE id = $1', [id]);
    expect((await user('enable', 'off')).stdout).toMatch(
      /^Enabled off, who has to log in and allow each application again\.$/m,
    );
    expect((await user('enable', 'off')).stdout).toBe('off was not disabled.\n');
    expect(jsonOf(await user('enable', 'off', '--json'))).toEqual({
      id,
      username: 'off',
      disabled: false,
      disabled_before: false,
      disabled_by: [],
    });
  });

  it('enable does not enable a user whom the product disabled, except with --override-product', async () => {
    const id = await made('closed');
    await operator.rows(
      'UPDATE users SET operator_disabled_at = now(), product_disabled_at = now() WHERE id = $1',
      [id],
    );
    expect((await user('show', 'closed')).stdout).toMatch(/^disabled_by +operator, product$/m);
    const kept = jsonOf(await user('enable', 'closed', '--json'));
    expect(kept).toMatchObject({ disabled: true, disabled_before: true, disabled_by: ['product'] });
    expect((await user('enable', 'closed')).stdout).toMatch(/^closed stays disabled, because the product/);
    const enabled = await user('enable', 'closed', '--override-product', '--json');
    expect(jsonOf(enabled)).toMatchObject({ disabled: false, disabled_before: true, disabled_by: [] });
  });
});
