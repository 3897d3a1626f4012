import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { AUDIT_STREAMS } from '#audit/event.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { withDatabase } from '#test/support/test-database.js';
import { isolate } from '#test/support/isolate.js';
import { runOperator } from '../support/run-operator.js';
import { useOperator } from '../support/use-operator.js';

describe('operator', () => {
  const operator = useOperator();

  it('exits with the exit code of its command', async () => {
    const [help, wrong] = await Promise.all([runOperator(['--help'], {}), runOperator(['foo'], {})]);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toMatch(/^error: unknown command 'foo'\n/);
  });

  it('--version prints the version of package.json, without settings', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    expect(await runOperator(['--version'], {})).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  describe('an error with --json', () => {
    const unreachable = { DATABASE_URL: 'postgres://me:dbpassword@127.0.0.1:1/oauth' };
    it.each([
      ['an unknown option', ['client', 'list', '--json', '--foo'], {}, 2, /^unknown option '--foo'/],
      ['an unknown command', ['foo', '--json'], {}, 2, /^unknown command 'foo'\n\(The commands are /],
      ['a missing command', ['client', '--json'], {}, 2, /^unknown option '--json'/],
      ['no command at all', ['--json'], {}, 2, /^unknown option '--json'/],
      ['a missing setting', ['client', 'list', '--json'], {}, 1, /^DATABASE_URL is missing: /],
      ['a service that does not answer', ['client', 'list', '--json'], unreachable, 1, /DATABASE_URL/],
    ])('is one JSON object on stderr, with the exit code: %s', async (_, args, env, code, problem) => {
      const failed = await operator.run(args, env);
      expect(failed).toMatchObject({ code, stdout: '' });
      expect(failed.stderr).toMatch(/^\{.*\}\n$/);
      expect(JSON.parse(failed.stderr)).toEqual({ error: expect.stringMatching(problem), exit_code: code });
      expect(failed.stderr).not.toContain('dbpassword');
    });

    it('has a line for each problem', async () => {
      const wrong = ['client', 'create', '--name', '', '--redirect-uri', 'ftp://a.example', '--json'];
      const { code, stderr } = await operator.run(wrong);
      expect(code).toBe(2);
      const { error, exit_code } = JSON.parse(stderr) as { error: string; exit_code: number };
      expect([exit_code, error.split('\n')]).toEqual([
        2,
        [expect.stringContaining('--name'), expect.stringContaining('--redirect-uri')],
      ]);
    });

    it('contains no control characters of quoted input', async () => {
      const { stderr } = await operator.run(['client', 'show', 'no\u009bbody', '--json']);
      expect(stderr).not.toContain('\u009b');
      expect(JSON.parse(stderr)).toMatchObject({ exit_code: 2 });
    });

    it('is text if --json follows --', async () => {
      const { code, stderr } = await operator.run(['client', 'show', '--', '--json']);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^error: .*"--json"/) });
    });
  });

  const register = ['client', 'create', '--name', 'A', '--redirect-uri', 'https://a.example/cb', '--json'];

  /** Runs a command with `run` as the run.json of `npm start`. */
  async function runWithRunFile(run: unknown, args: string[], env: NodeJS.ProcessEnv = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'operator-run-'));
    await writeFile(join(folder, 'run.json'), typeof run === 'string' ? run : JSON.stringify(run), {
      mode: 0o600,
    });
    const outcome = await operator.run(args, { ...env, LOCAL_DIR: folder });
    await rm(folder, { recursive: true });
    return outcome;
  }
  const running = () => ({
    auth_url: 'http://localhost:3001',
    base_url: 'http://localhost:3002',
    database_url: operator.databaseUrl,
    nats_url: operator.natsUrl,
  });

  it('without settings, uses the product that npm start runs', async () => {
    const { code, stdout, stderr } = await runWithRunFile(running(), register);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ token_url: 'http://localhost:3002/api/auth/oauth/token' });
  });

  it('never combines DATABASE_URL of the environment with the URLs of a running product', async () => {
    const { code, stderr } = await runWithRunFile(running(), register, {
      DATABASE_URL: operator.databaseUrl,
    });
    expect(code).toBe(1);
    for (const name of ['AUTH_URL', 'BASE_URL', 'NATS_URL']) expect(stderr).toContain(name);
  });

  it('names both ways to select a database, but only DATABASE_URL in production', async () => {
    const [none, production] = await Promise.all([
      operator.run(['client', 'list'], { LOCAL_DIR: operator.localDir }),
      runWithRunFile(running(), ['client', 'list'], { NODE_ENV: 'production' }),
    ]);
    expect(none).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: DATABASE_URL is missing: .*npm start/),
    });
    expect(none.stderr).toContain(
      `${join(operator.localDir, 'run.json')}: LOCAL_DIR must be the same in both places`,
    );
    expect(production).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('DATABASE_URL is missing'),
    });
    expect(production.stderr).not.toContain('npm start');
  });

  it('explains how to fix a broken run.json', async () => {
    const { code, stderr } = await runWithRunFile('{"database_url": ', ['client', 'list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/run\.json is not valid JSON: restart "npm start", or set DATABASE_URL/);
  });

  it('explains how to read run.json if access is denied', async () => {
    // Creates a directory, because root can read any file.
    await mkdir(join(operator.localDir, 'run.json'));
    const { code, stderr } = await operator.run(['client', 'list'], { LOCAL_DIR: operator.localDir });
    await rm(join(operator.localDir, 'run.json'), { recursive: true });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: cannot read .*run\.json: run this as the user who ran "npm start", or set DATABASE_URL/,
    );
  });

  it('reports an unusable database without a stack trace or credentials', async () => {
    const urls = [
      'postgres://me:dbpassword@127.0.0.1:1/oauth',
      'postgres://me:dbpassword@host.invalid/oauth',
      'dbpassword',
    ];
    const outcomes = await Promise.all(
      // The first command runs as a separate process, which must exit by itself and print the same message.
      urls.map((DATABASE_URL, index) =>
        index === 0
          ? runOperator(['client', 'list'], { DATABASE_URL })
          : operator.run(['client', 'list'], { DATABASE_URL }),
      ),
    );
    for (const { code, stdout, stderr } of outcomes) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: .*DATABASE_URL/s);
      expect(stderr).not.toMatch(/dbpassword|^ +at /m);
    }
  });

  it('suggests creating the database if it does not exist', async () => {
    const url = new URL(operator.databaseUrl);
    url.pathname = '/not_there';
    const { code, stderr } = await operator.run(['client', 'list'], { DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*"not_there" does not exist; create it, or correct DATABASE_URL\n$/);
  });

  it('reports missing migrations, which migrate applies and prints', async () => {
    await operator.rows('DROP SCHEMA oauth CASCADE');
    await operator.rows('CREATE SCHEMA oauth');
    const env = { DATABASE_URL: operator.databaseUrl };
    const unmigrated = await operator.run(['client', 'list'], env);
    expect(unmigrated).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'error: the database is not at this version (relation "clients" does not exist). Where its tables are ' +
        'in another schema than oauth, set DATABASE_SCHEMA; otherwise run:\n  operator migrate\n',
    });
    const both = await Promise.all([runOperator(['migrate'], env), runOperator(['migrate'], env)]);
    const stderr =
      'warning: AUDIT_NATS_URL is not set: the streams of the audit trail were not created or updated\n';
    for (const outcome of both) expect(outcome).toMatchObject({ code: 0, stderr });
    const json = await operator.run(['migrate', '--json'], env);
    expect(json).toEqual({ code: 0, stdout: '{\n  "applied": [],\n  "streams": false\n}\n', stderr });
    expect(both.map(({ stdout }) => stdout).sort()).toEqual([
      'applied CreateSchema1795219200000\n',
      'nothing to apply: the database is up to date\n',
    ]);
  });

  it('migrate creates the streams of the audit trail, or reports why it could not', async () => {
    const services = await isolate();
    const env = { DATABASE_URL: services.databaseUrl, AUDIT_NATS_URL: services.natsUrl };
    const nats = await connect(natsOptions(services.natsUrl, 'test'));
    const { streams } = await jetstreamManager(nats);
    const maxAge = async (name: string) => (await streams.info(name)).config.max_age / 86_400e9;
    try {
      await Promise.all(AUDIT_STREAMS.map(({ name }) => streams.delete(name)));
      const created = await operator.run(['migrate'], env);
      expect(created).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/\nthe streams of the audit trail are up to date\n$/),
        stderr: '',
      });
      for (const { name } of AUDIT_STREAMS) expect(await maxAge(name)).toBe(90);
      const updated = await operator.run(['migrate', '--json'], { ...env, AUDIT_RETENTION_DAYS: '7' });
      expect(JSON.parse(updated.stdout)).toEqual({ applied: [], streams: true });
      for (const { name } of AUDIT_STREAMS) expect(await maxAge(name)).toBe(7);
      const failed = await operator.run(['migrate'], { ...env, AUDIT_NATS_URL: 'nats://127.0.0.1:1' });
      expect(failed).toMatchObject({ code: 1, stdout: '' });
      expect(failed.stderr).toMatch(/^error: NATS \(AUDIT_NATS_URL\) did not create or update the streams/);
    } finally {
      await Promise.all(AUDIT_STREAMS.map(({ name }) => streams.delete(name)));
      await nats.close();
      await services.close();
    }
  });

  it('migrate prints only an error on stderr if it fails', async () => {
    const services = await isolate();
    try {
      await withDatabase(services.databaseUrl, async (database) => {
        await database.query('DROP SCHEMA oauth CASCADE');
        await database.query('CREATE SCHEMA oauth');
        // Occupies the name of an index.
        await database.query('CREATE TABLE grants_user ()');
      });
      const failed = await operator.run(['migrate'], { DATABASE_URL: services.databaseUrl });
      expect(failed).toMatchObject({ code: 1, stdout: '' });
      expect(failed.stderr).toContain('"grants_user" already exists');
    } finally {
      await services.close();
    }
  });

  it.each([
    ['a table', 'client_logos', 'DROP TABLE client_logos'],
    ['a column', 'optional_scopes', 'ALTER TABLE clients DROP COLUMN optional_scopes'],
  ])('reports the wrong database version if %s is missing', async (_, name, drop) => {
    const services = await isolate();
    try {
      await withDatabase(services.databaseUrl, (admin) => admin.query(drop));
      const { code, stdout, stderr } = await operator.run(['client', 'list'], {
        DATABASE_URL: services.databaseUrl,
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /^error: the database is not at this version \(.*\)\. .* set DATABASE_SCHEMA; otherwise run:\n {2}operator migrate\n$/,
      );
      expect(stderr).toContain(name);
    } finally {
      await services.close();
    }
  });

  it('prints help with examples for commands of every level, without settings', async () => {
    for (const level of [[], ['client'], ['client', 'secret', 'rotate'], ['user', 'list'], ['migrate']]) {
      const { code, stdout, stderr } = await operator.run([...level, '--help'], {});
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(['Usage: operator', ...level].join(' '));
      expect(stdout).toMatch(/^ +\$ .*operator (client|user|migrate)/m);
      expect(stdout).not.toContain('\u001b');
    }
  });

  it('help prints the same text as --help, and refuses unknown command names', async () => {
    const byName = await operator.run(['help', 'client', 'secret', 'rotate'], {});
    expect(byName).toEqual(await operator.run(['client', 'secret', 'rotate', '--help'], {}));
    expect(byName).toMatchObject({ code: 0, stdout: expect.stringContaining('client secret rotate') });
    const all = await operator.run(['help'], {});
    expect(all).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: operator ') });
    const none = await operator.run(['help', 'client', 'foo'], {});
    expect(none).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/'foo'\n.*create[^]*\nSee:\n {2}operator client --help\n$/),
    });
  });

  it.each([
    ['by npx', 'npx operator', { npm_lifecycle_script: "'operator' 'client' 'show'" }],
    ['by its own name', 'operator', {}],
    ['by another npm script', 'operator', { npm_lifecycle_script: 'node dist/local/demo.js' }],
  ])('prints hints with the name under which it was started: %s', async (_, name, env) => {
    const help = await operator.run(['client', 'show', '--help'], env);
    expect(help.stdout).toContain(`\n  $ ${name} client show sc_`);
    const wrong = await operator.run(['client', 'show'], env);
    expect(wrong.stderr).toContain(`\nSee:\n  ${name} client show --help\n`);
  });

  it('refuses unknown commands and options, and refers to the help', async () => {
    const wrong = [
      [],
      ['foo'],
      ['client', 'foo'],
      ['user'],
      ['migrate', 'down'],
      ['client', 'list', '--jsn'],
    ];
    for (const { code, stdout, stderr } of await Promise.all(wrong.map((args) => operator.run(args)))) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('--help');
    }
  });

  it.each([
    [['--no\u001b[2Jbody']],
    [['client', 'list', '--no\u001b[2Jbody']],
    [['no\u001b[2Jbody']],
    [['help', 'no\u001b[2Jbody']],
  ])('strips control characters from quoted input: %j', async (args) => {
    const { code, stderr } = await operator.run(args, {});
    expect(code).toBe(2);
    expect(stderr).toContain('body');
    expect(stderr).not.toContain('\u001b');
  });

  it.each([
    ['foo', []],
    ['client foo', ['client']],
    ['client secret foo', ['client', 'secret']],
    ['help client foo', ['client']],
  ])('refuses an unknown command with the same message on every level: %s', async (line, group) => {
    const { code, stdout, stderr } = await operator.run(line.split(' '), {});
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: unknown command 'foo'\n\(The commands are \w.*\)\n/);
    expect(stderr).toContain(`\nSee:\n  ${['operator', ...group, '--help'].join(' ')}\n`);
  });

  it('prints hints that can be pasted unchanged', async () => {
    const env = { ...operator.env, npm_lifecycle_script: 'node local/operator/operator.mjs migrate' };
    const { stderr } = await operator.run(['client', 'show', 'sc_unknown'], env);
    expect(stderr).toContain('See:\n  npx operator client list\n');
  });

  it('reports an absent variable as missing, not as wrong', async () => {
    const { DATABASE_URL } = operator.env;
    const { code, stderr } = await operator.run(['client', 'delete', 'sc_x', '--yes'], { DATABASE_URL });
    expect(code).toBe(1);
    expect(stderr).toContain('NATS_URL is missing: it must be one or more URLs, nats://…');
  });
});
