import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OperatorBench, operatorBench } from './operator-bench.js';
import { runOperator } from './run-operator.js';

describe('operator', () => {
  let bench: OperatorBench;
  beforeAll(async () => {
    bench = await operatorBench();
  });
  afterAll(() => bench.close());

  const register = ['client', 'create', '--name', 'A', '--redirect-uri', 'https://a.example/cb', '--json'];

  /** Runs with a `.local` folder in which `npm start` wrote this run.json. */
  async function besideRunning(run: unknown, args: string[], env: NodeJS.ProcessEnv = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'operator-run-'));
    await writeFile(join(folder, 'run.json'), typeof run === 'string' ? run : JSON.stringify(run), {
      mode: 0o600,
    });
    const outcome = await runOperator(args, { ...env, LOCAL_DIR: folder });
    await rm(folder, { recursive: true });
    return outcome;
  }
  const running = () => ({
    auth_url: 'http://localhost:3001',
    base_url: 'http://localhost:3002',
    database_url: bench.databaseUrl,
    nats_url: bench.natsUrl,
  });

  it('works on the product that npm start runs, with no settings', async () => {
    const { code, stdout, stderr } = await besideRunning(running(), register);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ token_url: 'http://localhost:3002/api/auth/oauth/token' });
  });

  it('never mixes DATABASE_URL of the environment with the addresses of a running product', async () => {
    const { code, stderr } = await besideRunning(running(), register, { DATABASE_URL: bench.databaseUrl });
    expect(code).toBe(1);
    for (const name of ['AUTH_URL', 'BASE_URL', 'NATS_URL']) expect(stderr).toContain(name);
  });

  it('says both ways to name a database when there is none, and one in production', async () => {
    const [none, production] = await Promise.all([
      runOperator(['client', 'list'], { LOCAL_DIR: bench.localDir }),
      besideRunning(running(), ['client', 'list'], { NODE_ENV: 'production' }),
    ]);
    expect(none).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/npm start.*DATABASE_URL/),
    });
    expect(production).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('DATABASE_URL'),
    });
    expect(production.stderr).not.toContain('npm start');
  });

  it('says what to do about a broken run.json', async () => {
    const { code, stderr } = await besideRunning('{"database_url": ', ['client', 'list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/run\.json is not valid JSON: restart "npm start", or set DATABASE_URL/);
  });

  it('fails in one line, without stack trace or credential, when the database cannot be used', async () => {
    const urls = [
      'postgres://me:dbpassword@127.0.0.1:1/oauth',
      'postgres://me:dbpassword@host.invalid/oauth',
      'dbpassword',
    ];
    const outcomes = await Promise.all(
      urls.map((DATABASE_URL) => runOperator(['client', 'list'], { DATABASE_URL })),
    );
    for (const { code, stdout, stderr } of outcomes) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: .*DATABASE_URL/s);
      expect(stderr).not.toMatch(/dbpassword|^ +at /m);
    }
  });

  it('migrate prints what it applied; other commands say that it is missing', async () => {
    await bench.rows('DROP SCHEMA public CASCADE');
    await bench.rows('CREATE SCHEMA public');
    const env = { DATABASE_URL: bench.databaseUrl };
    const unmigrated = await runOperator(['client', 'list'], env);
    expect(unmigrated).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('operator -- migrate'),
    });
    const both = await Promise.all([runOperator(['migrate'], env), runOperator(['migrate'], env)]);
    for (const { code, stderr } of both) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(both.map(({ stdout }) => stdout).sort()).toEqual([
      expect.stringMatching(/^applied CreateDirectory1795219200000\n(applied \w+\n)*$/),
      'nothing to apply: the database is up to date\n',
    ]);
  });

  it('helps on every level, with examples, and needs no settings for it', async () => {
    const levels = [
      [],
      ['client'],
      ['client', 'create'],
      ['client', 'show'],
      ['user', 'create'],
      ['migrate'],
    ];
    const outcomes = await Promise.all(levels.map((level) => runOperator([...level, '--help'], {})));
    for (const [index, { code, stdout, stderr }] of outcomes.entries()) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(['Usage: operator', ...levels[index]!].join(' '));
      expect(stdout).toContain('npm run -s operator -- ');
      expect(stdout).not.toContain('\u001b');
    }
  });

  it('refuses unknown commands and options with 2, and says where help is', async () => {
    const wrong = [
      [],
      ['foo'],
      ['client', 'foo'],
      ['user'],
      ['migrate', 'down'],
      ['client', 'list', '--jsn'],
    ];
    for (const { code, stdout, stderr } of await Promise.all(
      wrong.map((args) => runOperator(args, bench.env)),
    )) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('--help');
    }
  });
});
