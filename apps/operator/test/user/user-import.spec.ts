import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { runOperator } from '../support/run-operator.js';
import { useOperator } from '../support/use-operator.js';

const operator = useOperator();
const issuer = 'https://product.example.com';
let passwordHash: string;

beforeAll(async () => {
  passwordHash = await bcrypt('correct horse', { cost: 4 });
});
beforeEach(() => operator.rows('DELETE FROM users'));

async function file(name: string, ...lines: readonly (object | string)[]): Promise<string> {
  const path = join(operator.localDir, name);
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(path, `${texts.join('\n')}\n`);
  return path;
}

const users = () =>
  operator.rows(
    `SELECT username, email, name, issuer, external_id, password_hash, disabled_at IS NOT NULL AS disabled
     FROM users ORDER BY email`,
  );
const importFile = async (path: string, ...options: string[]) => {
  const { code, stdout, stderr } = await operator.run(
    ['user', 'import', path, '--json', ...options],
    operator.env,
  );
  return { code, stderr, counts: JSON.parse(stdout) as Record<string, unknown> };
};
const none = {
  created: 0,
  updated: 0,
  unchanged: 0,
  failed: 0,
  passwords_kept: 0,
  dry_run: false,
  bad_lines: [],
};

it('operator user import creates users with existing password hashes, and later updates the users', async () => {
  const ada = { email: 'ada@example.com', username: 'ada', name: 'Ada', password_hash: passwordHash };
  const grace = { email: 'grace@example.com', name: 'Grace', issuer, external_id: '7', disabled: true };
  const linus = { email: 'linus@example.com' };
  const path = await file('users.jsonl', ada, grace, '', linus);
  expect(await importFile(path)).toEqual({ code: 0, stderr: '', counts: { ...none, created: 3 } });
  const stored = await users();
  expect(stored).toEqual([
    { ...ada, issuer: null, external_id: null, disabled: false },
    { ...grace, username: grace.email, password_hash: null },
    {
      username: linus.email,
      name: linus.email,
      ...linus,
      issuer: null,
      external_id: null,
      password_hash: null,
      disabled: false,
    },
  ]);
  expect(await importFile(path)).toEqual({ code: 0, stderr: '', counts: { ...none, unchanged: 3 } });
  expect(await users()).toEqual(stored);
  const changed = await file(
    'users.jsonl',
    { ...ada, name: 'Ada L.' },
    { ...grace, email: 'new@example.com' },
    linus,
  );
  expect(await importFile(changed)).toEqual({
    code: 0,
    stderr: '',
    counts: { ...none, updated: 2, unchanged: 1 },
  });
});

it('operator user import treats an email address as verified only if the file says so', async () => {
  const lines = [
    { email: 'a@example.com', email_verified: true },
    { email: 'b@example.com', email_verified: false },
    { email: 'c@example.com' },
  ];
  await importFile(await file('verified.jsonl', ...lines));
  const csv = await file('verified.csv', 'email,email_verified', 'd@example.com,true', 'e@example.com,');
  await importFile(csv);
  const bad = await importFile(await file('bad.csv', 'email,email_verified', 'f@example.com,yes'));
  expect(bad).toMatchObject({ code: 3, stderr: 'line 2: email_verified must be true or false\n' });
  const verified = await operator.rows<{ email: string }>(
    'SELECT email FROM users WHERE email_verified ORDER BY 1',
  );
  expect(verified.map(({ email }) => email)).toEqual(['a@example.com', 'd@example.com']);
});

it('operator user import does not create a user who was deleted after the updated_at of the line', async () => {
  const line = { issuer, external_id: 'gone', email: 'gone@example.com', updated_at: '2026-01-01T00:00:00Z' };
  const path = await file('gone.jsonl', line);
  await operator.rows(`INSERT INTO deleted_identities VALUES (deleted_identity($1, 'gone'), now())`, [
    issuer,
  ]);
  expect(await importFile(path)).toMatchObject({
    code: 3,
    stderr: 'line 1: the user was deleted here after updated_at\n',
  });
  expect(await users()).toEqual([]);
});

it('operator user import reports every problem in each bad line, and imports the other lines', async () => {
  await operator.rows(
    `INSERT INTO users (username, email, name, issuer, external_id) VALUES ('here', 'here@example.com', 'H', $1, 'here')`,
    [issuer],
  );
  const good = (name: string) => ({
    email: `${name}@example.com`,
    username: name,
    password_hash: passwordHash,
  });
  const path = await file(
    'users.jsonl',
    good('one'),
    '{"email": ',
    '[]',
    { email: 'two', time_format: 13, week_start: 'Monday', passwordHash },
    { ...good('three'), password_hash: '5f4dcc3b5aa765d61d8327deb882cf99' },
    { ...good('four'), username: 'ONE' },
    { email: 'five@example.com', external_id: '5' },
    { email: 'here@example.com', issuer, external_id: 'here', disabled: true },
    { ...good('six'), updated_at: '2999-01-01T00:00:00Z' },
    { email: 'a'.repeat(70_000) },
    { ...good('seven'), username: 'with space' },
    { ...good('eight'), email: 'one@example.com' },
    good('nine'),
  );
  const { code, stderr, counts } = await importFile(path);
  const problems = {
    2: ['not JSON'],
    3: ['not a JSON object'],
    4: [
      'passwordHash is not a field of this operation',
      'email must be an email address of at most 254 characters',
      'time_format must be 12 or 24',
    ],
    5: [expect.stringMatching(/^password_hash is not accepted: .* set a password with "user set-password"/)],
    6: ['another user has the same username'],
    7: ['issuer is required with external_id'],
    8: ['the user is enabled here: run "user disable"'],
    9: ['updated_at must not be in the future'],
    10: ['longer than 65536 characters'],
    11: [expect.stringMatching(/^username must be 1 to 64 letters/)],
  };
  expect(code).toBe(3);
  const bad = counts['bad_lines'] as { line: number; problems: string[] }[];
  expect(Object.fromEntries(bad.map((row) => [row.line, row.problems]))).toEqual(problems);
  // Line 12 updates the user of line 1, because both lines have the same email.
  expect(counts).toMatchObject({ created: 2, updated: 1, failed: 10 });
  expect(stderr.trim().split('\n')).toHaveLength(10);
  expect(stderr).toContain('line 6: another user has the same username\n');
  expect(await users()).toHaveLength(3);
});

it('operator user import changes nothing with --dry-run, and prints the result', async () => {
  const path = await file('users.jsonl', { email: 'a@example.com', password_hash: passwordHash }, 'nonsense');
  const { code, counts } = await importFile(path, '--dry-run');
  expect({ code, counts }).toEqual({
    code: 3,
    counts: {
      ...none,
      created: 1,
      failed: 1,
      dry_run: true,
      bad_lines: [{ line: 2, problems: ['not JSON'] }],
    },
  });
  expect(await users()).toEqual([]);
});

it('operator user import keeps existing passwords without --replace-passwords', async () => {
  const user = { email: 'a@example.com', username: 'a', password_hash: passwordHash };
  await importFile(await file('users.jsonl', user));
  const newer = await bcrypt('another', { cost: 4 });
  await operator.rows('UPDATE users SET password_hash = $1', [newer]);
  const path = await file('users.jsonl', user);
  expect((await importFile(path)).counts).toEqual({ ...none, unchanged: 1, passwords_kept: 1 });
  expect(await users()).toMatchObject([{ password_hash: newer }]);
  expect((await importFile(path, '--replace-passwords')).counts).toEqual({ ...none, updated: 1 });
  expect(await users()).toMatchObject([{ password_hash: passwordHash }]);
});

it('operator user import ignores a line that is older than the stored user', async () => {
  const user = { email: 'a@example.com', issuer, external_id: '1' };
  await importFile(
    await file('users.jsonl', { ...user, name: 'New', updated_at: '2026-01-02T00:00:00.000002Z' }),
  );
  const older = await file('users.jsonl', {
    ...user,
    name: 'Old',
    updated_at: '2026-01-02T00:00:00.000001Z',
  });
  expect((await importFile(older)).counts).toEqual({ ...none, unchanged: 1 });
  expect(await users()).toMatchObject([{ name: 'New' }]);
});

it('operator user import reads CSV, with quotes, line breaks, empty cells and a byte order mark', async () => {
  const path = await file(
    'users.csv',
    '\uFEFFexternal_id,email,name,bio,time_format,disabled',
    '1,a@example.com,"Ada, ""A""","two\nlines",24,false',
    '2,b@example.com,,,,true',
    '3,c@example.com',
    '4,d@example.com,D,,25,maybe',
    '5,e@example.com,E,,12,',
  );
  const { code, counts } = await importFile(path, '--issuer', issuer);
  expect({ code, counts }).toEqual({
    code: 3,
    counts: {
      ...none,
      created: 3,
      failed: 2,
      bad_lines: [
        { line: 5, problems: ['2 cells instead of 6'] },
        { line: 6, problems: ['disabled must be true or false', 'time_format must be 12 or 24'] },
      ],
    },
  });
  expect(await users()).toMatchObject([
    { external_id: '1', name: 'Ada, "A"', disabled: false },
    { external_id: '2', name: 'b@example.com', disabled: true },
    { external_id: '5' },
  ]);
});

it('operator user import counts and names every line after a quote that is never closed', async () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `u${index}@example.com,"User ${index}"`);
  lines[4] = 'u4@example.com,"User 4';
  for (const index of lines.keys()) if (index > 4) lines[index] = `u${index}@example.com,User ${index}`;
  const { code, stderr, counts } = await importFile(await file('users.csv', 'email,name', ...lines));
  expect({ code, counts }).toMatchObject({ code: 3, counts: { created: 4, failed: 4996 } });
  expect(stderr).toBe(
    'line 6: the quote that opens in line 6 is never closed; lines 6 to 5001 were not imported\n',
  );
  const late = ['email,bio,name', 'a@example.com,"two', 'lines","A', 'b@example.com,,B'];
  expect((await importFile(await file('late.csv', ...late))).stderr).toBe(
    'line 2: the quote that opens in line 3 is never closed; lines 2 to 4 were not imported\n',
  );
});

it('operator user import never reads lines within quotes as users, whatever is wrong with their user', async () => {
  const injected = `mallory@example.com,Mallory,${passwordHash}`;
  const path = await file(
    'users.csv',
    'email,name,password_hash',
    `a@example.com,"${'x'.repeat(70_000)}\n${injected}\n",`,
    `"no email\n${injected}",B,`,
    `c@example.com,"C\n${injected}\n"x,`,
    'd@example.com,D "the" D,',
    'e@example.com,E,',
  );
  const { counts } = await importFile(path);
  expect(counts).toMatchObject({ created: 1, failed: 8 });
  expect((counts['bad_lines'] as { line: number }[]).map(({ line }) => line)).toEqual([2, 5, 7, 10]);
  expect(await users()).toMatchObject([{ email: 'e@example.com' }]);
});

it.each([
  ['semicolons', ';', '\n', 'utf8', ''],
  ['tabs and CRLF', '\t', '\r\n', 'utf8', ''],
  ['CR alone', ',', '\r', 'utf8', ''],
  ['UTF-16 with a byte order mark', '\t', '\r\n', 'utf16le', '\uFEFF'],
] as const)('operator user import reads CSV with %s', async (_, separator, lineBreak, encoding, mark) => {
  const rows = [
    ['email', 'name', 'email_verified', 'disabled'],
    ['a@example.com', '"Ä, B; C"', 'TRUE', 'f'],
    ['b@example.com', 'B', '0', '1'],
    [],
  ];
  const path = join(operator.localDir, 'users.csv');
  await writeFile(path, mark + rows.map((cells) => cells.join(separator)).join(lineBreak), encoding);
  expect(await importFile(path)).toMatchObject({ code: 0, counts: { created: 2 } });
  const stored =
    'SELECT name, email_verified AS verified, disabled_at IS NOT NULL AS disabled FROM users ORDER BY 1';
  expect(await operator.rows(stored)).toEqual([
    { name: 'B', verified: false, disabled: true },
    { name: 'Ä, B; C', verified: true, disabled: false },
  ]);
});

it.each([
  ['an empty file', 'users.csv', '', 'the file is empty'],
  ['a file of blank lines', 'users.jsonl', '\n \n', 'the file is empty'],
  ['a JSON array', 'users.json', `[${JSON.stringify({ email: 'a@example.com' })}]`, "jq -c '.[]'"],
  ['a JSON array with line breaks', 'users.jsonl', '\n[\n{"email":"a@example.com"}\n]\n', "jq -c '.[]'"],
  ['a document over several lines', 'users.json', '{\n"users": []\n}', 'jq -c .'],
  ['JSON as CSV', 'users.csv', '[{"email":"a@example.com"}]', '--format jsonl'],
  [
    'UTF-16 without a byte order mark',
    'users.csv',
    Buffer.from('email\na@example.com\n', 'utf16le'),
    'iconv',
  ],
  ['a header with an unclosed quote', 'users.csv', 'email,"name\na@example.com,A\n', 'line 1: the quote'],
])('operator user import refuses %s with a remedy, and writes nothing', async (_, name, content, remedy) => {
  const path = join(operator.localDir, name);
  await writeFile(path, content);
  const { code, stderr } = await operator.run(['user', 'import', path], operator.env);
  expect(code).toBe(2);
  expect(stderr).toContain(remedy);
  expect(await users()).toEqual([]);
});

it('operator user import reads hashes of other frameworks, also as a credential of Keycloak', async () => {
  const django = 'pbkdf2_sha256$1000$seasalt$BUJ1PqaWBI6hYCX8FneFOjJPgAiM36Tv/QKPBvUfAZo=';
  const credentialData = JSON.stringify({ algorithm: 'pbkdf2-sha512', hashIterations: 210_000 });
  const secretData = JSON.stringify({ value: 'A'.repeat(86) + '==', salt: 'AAECAwQFBgcICQoLDA0ODw==' });
  const path = await file(
    'users.jsonl',
    { email: 'a@example.com', username: 'a', password_hash: django },
    { email: 'b@example.com', username: 'b', password_hash: { credentialData, secretData } },
    { email: 'c@example.com', username: 'c', password_hash: '$P$5iFSdA4yZLBH3oTg3ysnPwnAE4vW3.1' },
    {
      email: 'd@example.com',
      username: 'd',
      password_hash: {
        credentialData: '{"algorithm":"argon2","hashIterations":3,"additionalParameters":null}',
        secretData,
      },
    },
    {
      email: 'e@example.com',
      username: 'e',
      password_hash: `scrypt:65536:1:1$abcdefghijklmnop$${'07'.repeat(64)}`,
    },
  );
  expect(await importFile(path)).toMatchObject({ code: 3, counts: { created: 2, failed: 3 } });
  expect(await users()).toMatchObject([
    { password_hash: expect.stringMatching(/^\$pbkdf2-sha256\$i=1000,l=32\$c2Vhc2FsdA\$/) },
    { password_hash: expect.stringMatching(/^\$pbkdf2-sha512\$i=210000,l=64\$AAECAwQFBgcICQoLDA0ODw\$/) },
  ]);
  expect(await importFile(path)).toMatchObject({ counts: { unchanged: 2, passwords_kept: 0 } });
});

it('operator user import refuses unknown and repeated columns before it writes anything', async () => {
  const path = await file('users.csv', 'email,passwordHash,email', 'a@example.com,x,y');
  const { code, stderr } = await operator.run(['user', 'import', path], operator.env);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /error: line 1: unknown column "passwordHash": .*\nerror: line 1: the column email occurs twice\n/,
  );
  expect(await users()).toEqual([]);
});

it.each([
  [['/nowhere.jsonl'], 'cannot read "/nowhere.jsonl"'],
  [['users.txt'], '--format is missing'],
  [['users.txt', '--format', 'xml'], '--format must be jsonl or csv'],
  [['-', '--issuer', ''], '--issuer must be'],
])('operator user import refuses %j', async (args, problem) => {
  const { code, stderr } = await operator.run(['user', 'import', ...args], operator.env);
  expect(code).toBe(2);
  expect(stderr).toContain(problem);
});

it('operator user import reads thousands of users from stdin as a separate process', async () => {
  const lines = Array.from({ length: 2500 }, (_, index) =>
    JSON.stringify({ external_id: `u${index}`, issuer, email: `u${index}@example.com` }),
  );
  // An invalid row must not affect the rest of its batch.
  lines[1234] = JSON.stringify({ email: 'u1@example.com', username: 'bad\u0000name' });
  const { code, stdout, stderr } = await runOperator(['user', 'import', '-'], operator.env, lines.join('\n'));
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringMatching(/^line 1235: username must be .*\n$/),
  });
  expect(stdout).toMatch(
    /^Created 2499 users and updated 0 in [\d.]+ s; 0 were up to date\.\n1 line not imported: see above\.\n$/,
  );
  expect(await operator.rows('SELECT count(*)::int AS count FROM users')).toEqual([{ count: 2499 }]);
});

describe('a user without a password', () => {
  it('is found by email, external id or id, unless several users match', async () => {
    const two = ['x1', 'x2'].map((id) => ({
      email: 'same@example.com',
      username: id,
      issuer,
      external_id: `ext-${id}`,
    }));
    await importFile(await file('users.jsonl', ...two));
    const disable = (login: string) => operator.run(['user', 'disable', login], operator.env);
    const { code, stderr } = await operator.run(['user', 'enable', 'same@example.com'], operator.env);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /matches several users: give one of id:\d+ \(same@example.com, ext-x1 of https:\/\/product.example.com\), id:\d+/,
    );
    expect((await operator.run(['user', 'enable', 'ext-x2'], operator.env)).stdout).toBe(
      'x2 was not disabled.\n',
    );
    const [, id = ''] = /(id:\d+) \(same@example.com, ext-x1/.exec(stderr) ?? [];
    expect((await operator.run(['user', 'enable', id], operator.env)).stdout).toBe('x1 was not disabled.\n');
    expect((await disable('nobody')).code).toBe(2);
  });
});
