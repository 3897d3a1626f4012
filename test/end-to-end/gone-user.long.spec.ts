import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { withDatabase } from '../support/test-database.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { until } from '../support/until.js';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { runCommand } from '../../apps/operator/test/support/use-operator.js';
import type { RunFile } from '#local/demo/run-script.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { NODE_ARGUMENTS } from '../support/built.js';
import { type ProductProcesses, startProcesses } from './started-product.js';
import { UserBrowser } from '../topology/retrying-client.js';
import { ProductUser } from './running-product.js';
import { type Pair, statusOfToken } from '../support/tokens.js';

let product: ProductProcesses;
let second: AppProcess;
let apis: string[];

beforeAll(async () => {
  product = await startProcesses({ LOG_LEVEL: 'fatal' });
  second = await startApp('resource', product.env);
  apis = [product.run.api_url, second.url];
});

afterAll(async () => {
  await second?.stop();
  await product?.close();
});

/** Runs a command in a separate process, whose exit the test observes. */
const operatorProcess = (args: string[]) => runOperator(args, product.env);

const operator = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, { ...product.env, ...env });

class Person {
  private constructor(
    readonly login: string,
    readonly app: ProductUser,
    readonly browser: UserBrowser,
  ) {}

  static async new(): Promise<Person> {
    const login = `u${randomBytes(6).toString('hex')}`;
    const args = ['--email', `${login}@example.com`, '--username', login, '--name', 'Ada', '--json'];
    const created = await operator(['user', 'create', ...args]);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    return Person.with(login, (JSON.parse(created.stdout) as { password: string }).password);
  }

  static with(login: string, password: string): Person {
    const run: RunFile = { ...product.run, user: { email: `${login}@example.com`, password } };
    const browser = new UserBrowser({ authorizeUrl: run.auth_url, client: run.client }, run.user);
    return new Person(login, new ProductUser(run), browser);
  }

  async connect(): Promise<Pair> {
    return (await this.app.redeem(await this.browser.allow())).body as unknown as Pair;
  }
}

const statusesOf = ({ access_token }: Pair) =>
  Promise.all(apis.map((url) => statusOfToken(url, access_token)));

const TO_LOGIN = /no code: 303 \/auth\/login/;

async function expectAccessEnded(person: Person, pairs: readonly Pair[], code: string | null): Promise<void> {
  for (const pair of pairs) expect(await statusesOf(pair)).toEqual([401, 401]);
  for (const pair of pairs)
    expect((await person.app.refresh(pair.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
  if (code !== null) expect((await person.app.redeem(code)).body).toMatchObject({ error: 'invalid_grant' });
  await expect(person.browser.code()).rejects.toThrow(TO_LOGIN);
}

const rowsOf = ({ login }: Person) =>
  withDatabase(product.databaseUrl, async (client) => {
    const text = 'SELECT disabled_at IS NOT NULL AS disabled FROM users WHERE username = $1';
    return (await client.query<{ disabled: boolean }>(text, [login])).rows;
  });

describe.each([
  ['delete', ['--yes'], { deleted: true, deleted_before: false, revoked_grants: 3 }],
  ['disable', [], { disabled: true, disabled_before: false, revoked_grants: 3 }],
] as const)('operator user %s', (command, more, fields) => {
  it('ends every token, code and session of the user before it exits', async () => {
    const [person, other] = [await Person.new(), await Person.new()];
    const [first, kept] = [await person.connect(), await other.connect()];
    const second = (await person.app.redeem((await person.browser.code()).code)).body as unknown as Pair;
    const { code } = await person.browser.code();
    for (const pair of [first, second, kept]) expect(await statusesOf(pair)).toEqual([200, 200]);

    const outcome = await operatorProcess([
      'user',
      command,
      `${person.login}@EXAMPLE.com`,
      ...more,
      '--json',
    ]);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(await statusesOf(first)).toEqual([401, 401]);
    expect(JSON.parse(outcome.stdout)).toEqual({ id: expect.any(Number), username: person.login, ...fields });
    await expectAccessEnded(person, [first, second], code);
    await expect(person.browser.allow()).rejects.toThrow();
    expect(await rowsOf(person)).toEqual(command === 'delete' ? [] : [{ disabled: true }]);

    expect(await statusesOf(kept)).toEqual([200, 200]);
    expect((await other.app.refresh(kept.refresh_token)).status).toBe(200);
    await other.browser.code();
  });

  it('exits with 1 if it cannot notify the token service, and succeeds when it is repeated', async () => {
    const person = await Person.new();
    const pair = await person.connect();
    expect(await statusesOf(pair)).toEqual([200, 200]);
    const withoutNats = { NATS_URL: 'nats://user:natspassword@127.0.0.1:1' };
    const failed = await operator(['user', command, person.login, ...more], withoutNats);
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('run this command again'),
    });
    expect(failed.stderr).not.toMatch(/natspassword|^ +at /m);
    // The grants have been revoked permanently. The user still exists, so that the command can be repeated.
    expect(await rowsOf(person)).toEqual([{ disabled: true }]);
    await expect(person.browser.code()).rejects.toThrow(TO_LOGIN);

    const repeated = await operator(['user', command, person.login, ...more]);
    expect(repeated).toMatchObject({ code: 0, stderr: '' });
    expect(repeated.stdout).toContain('no session or token works any more');
    await expectAccessEnded(person, [pair], null);
    expect(await rowsOf(person)).toEqual(command === 'delete' ? [] : [{ disabled: true }]);
  });

  it('ends all access even if it is killed between its write and its broadcast', async () => {
    const person = await Person.new();
    const pair = await person.connect();
    expect(await statusesOf(pair)).toEqual([200, 200]);
    const nats = await FaultProxy.start(product.env['NATS_URL'] ?? '');
    const child = spawn(
      process.execPath,
      [...NODE_ARGUMENTS, resolve('dist/apps/operator.cjs'), 'user', command, person.login, ...more],
      { env: { ...product.env, NATS_URL: nats.url } },
    );
    const ended = once(child, 'exit');
    // The proxy kills the process at its first message to NATS.
    nats.onData = () => {
      child.kill('SIGKILL');
      return Buffer.alloc(0);
    };
    expect(await ended).toEqual([null, 'SIGKILL']);
    await nats.close();
    await until('every copy refuses the token', 60_000, async () =>
      (await statusesOf(pair)).every((status) => status === 401),
    );
    await expectAccessEnded(person, [pair], null);
    expect(await operator(['user', command, person.login, ...more])).toMatchObject({ code: 0, stderr: '' });
    expect(await rowsOf(person)).toEqual(command === 'delete' ? [] : [{ disabled: true }]);
  });

  it('can run several times concurrently', async () => {
    const person = await Person.new();
    const pair = await person.connect();
    expect(await statusesOf(pair)).toEqual([200, 200]);
    const outcomes = await Promise.all(
      Array.from({ length: 3 }, () => operatorProcess(['user', command, person.login, ...more])),
    );
    // A command that runs after the deletion cannot find the user.
    for (const { code, stderr } of outcomes)
      expect([code, stderr]).toEqual(
        code === 2 && command === 'delete' ? [2, expect.stringContaining('no user')] : [0, ''],
      );
    expect(outcomes.map(({ code }) => code)).toContain(0);
    await expectAccessEnded(person, [pair], null);
  });
});

it('operator user enable restores the user but not the grants and sessions', async () => {
  const person = await Person.new();
  const pair = await person.connect();
  expect(await operator(['user', 'disable', person.login])).toMatchObject({ code: 0 });
  await expect(person.browser.allow()).rejects.toThrow();
  const enabled = await operator(['user', 'enable', person.login, '--json']);
  expect(JSON.parse(enabled.stdout)).toMatchObject({ disabled: false, disabled_before: true });
  await expectAccessEnded(person, [pair], null);
  expect(await statusesOf(await person.connect())).toEqual([200, 200]);
  expect(await statusesOf(pair)).toEqual([401, 401]);
});

it('operator user set-password ends sessions only if requested, and revokes no grant', async () => {
  const person = await Person.new();
  const pair = await person.connect();
  const set = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await operator([
      'user',
      'set-password',
      person.login,
      '--json',
      ...args,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return (JSON.parse(stdout) as { password: string }).password;
  };
  const first = await set();
  await person.browser.code();
  const [old, changed] = [Person.with(person.login, 'the old one'), Person.with(person.login, first)];
  await expect(old.browser.allow()).rejects.toThrow();
  await person.browser.code();
  await changed.browser.allow();

  await set('--end-sessions');
  for (const { browser } of [person, changed]) await expect(browser.code()).rejects.toThrow(TO_LOGIN);
  expect(await statusesOf(pair)).toEqual([200, 200]);
  expect((await person.app.refresh(pair.refresh_token)).status).toBe(200);
});
