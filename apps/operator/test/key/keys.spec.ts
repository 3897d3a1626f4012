import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { Client } from 'pg';
import type { AuditEvent } from '#audit/event.js';
import { KeyRing } from '#keys/key-ring.js';
import { SUBJECTS } from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { statusSubject } from '#messaging/service-status.js';
import { type AppInProcess, startAppInProcess } from '#test/support/app-in-process.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { openAuditReader } from '#test/support/audit-trail.js';
import { appSettings } from '#test/support/app-settings.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS, SIGNING_KEYS } from '#test/support/keys.js';
import { until } from '#test/support/until.js';
import type { AdministrationOptions } from '#operations/administration.options.js';
import { CommandNats } from '#operations/operator-nats.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { askServices } from '#operations/running-services/status.js';
import { jsonOf, runCommand } from '../support/use-operator.js';

const [SIGNING, VERIFYING, OTHER] = Array.from({ length: 3 }, () =>
  randomBytes(32).toString('base64url'),
) as [string, string, string];
const TOKEN_KEYS = `${SIGNING},${VERIFYING}`;
const idOf = (key: string): string => KeyRing.parse(key).keys[0]?.id ?? '';

const idTokenKeysOf = (name: string) => (name === 'token' ? ID_TOKEN_KEYS : PUBLIC_ID_TOKEN_KEYS);

let services: Isolated;
let database: Client;
let env: Record<string, string>;
/** Each has another name or another process, as in its instance id. */
const apps: (AppProcess | AppInProcess)[] = [];

/** Starts a token app whose process differs from the process of this suite. */
const startTokenProcess = (keys: string) =>
  startApp('token', { ...env, LOG_LEVEL: 'warn', TOKEN_KEYS: keys, ID_TOKEN_KEYS });

beforeAll(async () => {
  services = await isolate();
  env = { ...appSettings(services), API_URL: 'https://api.example.com' };
  database = new Client({ connectionString: services.databaseUrl });
  await database.connect();
  const names = ['token', 'authorize', 'resource'] as const;
  apps.push(
    await startTokenProcess(TOKEN_KEYS),
    ...(await Promise.all(
      names.map((name) =>
        startAppInProcess(name, { ...env, TOKEN_KEYS, ID_TOKEN_KEYS: idTokenKeysOf(name) }),
      ),
    )),
  );
});

afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  await database.end();
  await services.close();
});

/** Repeats the request until all processes answer in full: a busy process answers late, or without the state of Redis. */
async function answers(): Promise<ServiceStatus[]> {
  let all: ServiceStatus[] = [];
  const options = { settings: { natsUrl: services.natsUrl } } as AdministrationOptions;
  const running = new RunningServices(options, new CommandNats(options));
  await until('every process answers', 60_000, async () => {
    all = [...(await askServices(running)).statuses];
    return all.length === apps.length && all.every(({ service, redis }) => service === 'resource' || redis);
  });
  return all;
}

describe('the status of the running processes', () => {
  it('is reported by every process of every app, in sorted order', async () => {
    const all = await answers();
    expect(all.map(({ service }) => service)).toEqual(['authorize', 'resource', 'token', 'token']);
    expect(new Set(all.map(({ instance }) => Number(instance.split(':').at(-1))))).toEqual(
      new Set(apps.map((app) => ('process' in app ? app.process : process).pid)),
    );
    for (const { instance, version, started_at, time } of all) {
      const isBuilt = !instance.endsWith(`:${process.pid}`);
      expect(version).toMatch(isBuilt ? /^\d+\.\d+\.\d+$/ : /^unbuilt$/);
      expect(Date.parse(time)).toBeGreaterThan(Date.parse(started_at));
    }
  });

  it('contains key ids and roles, the shared settings and the state of Redis', async () => {
    const all = await answers();
    const keys = KeyRing.parse(TOKEN_KEYS).keys;
    expect(keys.map(({ role }) => role)).toEqual(['signing', 'verifying']);
    for (const { service, ...status } of all) {
      expect(status.settings).toMatchObject({
        BASE_URL: 'https://base.example.com',
        API_URL: 'https://api.example.com',
        SCOPES_FILE: expect.stringMatching(/^sha256 [0-9a-f]{64}$/),
      });
      if (service === 'resource') {
        expect(status).not.toHaveProperty('keys');
        expect(status).not.toHaveProperty('redis');
      } else {
        expect(status.keys).toEqual(keys);
        expect(status.redis).toMatchObject({
          role: 'master',
          appendonly: expect.stringMatching(/^(yes|no)$/),
        });
      }
    }
  });

  it('contains the keys of ID tokens, with which only the token app signs', async () => {
    const roleOf = (service: string) => (service === 'token' ? 'signing' : 'verifying');
    for (const { service, id_token_keys: keys } of await answers())
      expect(keys).toEqual(
        service === 'resource'
          ? undefined
          : SIGNING_KEYS.ids.map((key) => ({ ...key, role: roleOf(service) })),
      );
    const listed = jsonOf(await runCommand(['keys', 'list', '--json'], env)) as { id_token_keys: object[] };
    expect(listed.id_token_keys).toContainEqual({
      ...SIGNING_KEYS.ids[0],
      signs_in: [expect.stringMatching(/^token /), expect.stringMatching(/^token /)],
      verifies_in: [expect.stringMatching(/^authorize /)],
      missing_in: [],
      first_seen_at: expect.any(String),
      last_signed_at: expect.any(String),
      needed_until: expect.any(String),
    });
    expect((await runCommand(['keys', 'list'], env)).stdout).toMatch(
      /^[\w-]{43} +RS256 +token 2 +authorize 1 +- +\d{4}-\S+ \S+Z +\d{4}-\S+ \S+Z$/m,
    );
  });

  it('is supplemented in keys list by a removed ID token key until its ID tokens have expired', async () => {
    const kid = 'removed'.padEnd(43, 'x');
    const insert = `INSERT INTO token_keys (id, ring, last_signed_at, needed_until) VALUES ($1, 'RS256', now(), now() + $2::interval)`;
    const report = async () =>
      jsonOf(await runCommand(['keys', 'list', '--json'], env)) as {
        id_token_keys: { id: string }[];
        problems: { message: string }[];
      };
    await database.query(insert, [kid, '1 hour']);
    const { id_token_keys: keys, problems } = await report();
    expect(keys).toContainEqual(expect.objectContaining({ id: kid, alg: 'RS256', signs_in: [] }));
    expect(problems).toEqual([
      expect.objectContaining({ id: 'key_removed_early', message: expect.stringContaining(kid) }),
    ]);
    await database.query('UPDATE token_keys SET needed_until = now() WHERE id = $1', [kid]);
    expect((await report()).id_token_keys.map(({ id }) => id)).not.toContain(kid);
    await database.query('DELETE FROM token_keys WHERE id = $1', [kid]);
  });

  it('contains no key, password or other secret', async () => {
    const text = JSON.stringify(await answers());
    for (const { d = '' } of SIGNING_KEYS.privateJwks.keys) expect(text).not.toContain(d);
    for (const key of TOKEN_KEYS.split(',')) expect(text).not.toContain(key);
    for (const url of [services.databaseUrl, services.redisUrl, services.natsUrl]) {
      expect(text).not.toContain(url);
      const { password } = new URL(url);
      if (password !== '') expect(text).not.toContain(password);
    }
  });

  it('is only sent to inboxes, regardless of the reply subject', async () => {
    const nats = await connect(natsOptions(services.natsUrl, 'test'));
    try {
      const subjects: string[] = [];
      // Does not match events of the audit trail, which have longer subjects.
      nats.subscribe('oauth.*.*', { callback: (_error, { subject }) => void subjects.push(subject) });
      nats.publish(statusSubject('token'), '{}', { reply: SUBJECTS.clientChanged });
      await answers();
      await nats.flush();
      expect(subjects).toEqual([]);
    } finally {
      await nats.close();
    }
  });

  it('is ignored if it names another service, because it could block a rotation', async () => {
    const nats = await connect(natsOptions(services.natsUrl, 'test'));
    try {
      nats.subscribe(statusSubject('resource'), {
        callback: (_error, message) => {
          const time = new Date().toISOString();
          const forged = { service: 'token', instance: 'forged:1', version: '0.1.0', started_at: time, time };
          message.respond(JSON.stringify({ ...forged, keys: [{ id: 'ffffffff', role: 'signing' }] }));
        },
      });
      await nats.flush();
      expect((await answers()).map(({ instance }) => instance)).not.toContain('forged:1');
    } finally {
      await nats.close();
    }
  });
});

const keys = (...args: string[]) => runCommand(['keys', ...args], env);
const next = (present: string, ...args: string[]) =>
  runCommand(['keys', 'next', '--stdin', ...args], env, present);

interface Listed {
  readonly processes: string[];
  readonly keys: Record<'id' | 'first_seen_at' | 'last_signed_at' | 'needed_until', string | null>[];
  readonly problems: { id: string; severity: string }[];
}

async function listed(): Promise<Listed> {
  let list: Listed | undefined;
  await until('every process is listed, and every key recorded', 60_000, async () => {
    list = jsonOf(await keys('list', '--json')) as Listed;
    const ringProcesses = apps.length - 1;
    return (
      list.processes.length === ringProcesses &&
      list.keys.every(({ first_seen_at }) => first_seen_at !== null)
    );
  });
  return list as Listed;
}

/** @param until null for a key that has not signed */
const setNeeded = (key: string, until: string | null) =>
  database.query(
    'UPDATE token_keys SET needed_until = $2::timestamptz, last_signed_at = NULL WHERE id = $1',
    [idOf(key), until],
  );

async function keyChanges(): Promise<AuditEvent[]> {
  const { reader, close } = await openAuditReader(services.natsUrl);
  try {
    const events: AuditEvent[] = [];
    for await (const event of reader.read({ types: ['token_key.changed'] })) events.push(event);
    return events;
  } finally {
    await close();
  }
}

describe('operator keys list', () => {
  it('lists the roles and the last use of each key, and the time until which live tokens may need the key', async () => {
    const { processes, keys: known, problems } = await listed();
    expect(processes.map((name) => name.split(' ')[0])).toEqual(['authorize', 'token', 'token']);
    expect(known).toMatchObject([
      { id: idOf(SIGNING), signs_in: processes, verifies_in: [], missing_in: [] },
      { id: idOf(VERIFYING), signs_in: [], verifies_in: processes, missing_in: [], last_signed_at: null },
    ]);
    const [signing] = known;
    // The sum of the lifetime of a refresh token, the clock skew, and the hour until the next record.
    const seconds =
      (Date.parse(signing?.needed_until ?? '') - Date.parse(signing?.last_signed_at ?? '')) / 1000;
    expect(seconds).toBeCloseTo(90 * 86_400 + 5 + 3_600, 0);
    expect(problems).toEqual([]);
  });

  it('prints a table without the key values', async () => {
    await listed();
    const { code, stdout } = await keys('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${idOf(SIGNING)} +authorize 1, token \\d +- +- +\\d{4}-`, 'm'));
    for (const key of TOKEN_KEYS.split(',')) expect(stdout).not.toContain(key);
  });

  it('warns about a process with an unknown signing key, and records its start', async () => {
    await listed();
    apps.push(await startTokenProcess(OTHER));
    try {
      const { problems } = await listed();
      expect(problems.map(({ id }) => id)).toEqual(
        expect.arrayContaining(['signing_keys_differ', 'signing_key_unknown', 'key_removed_early']),
      );
      expect((await next(TOKEN_KEYS)).stderr).toMatch(/token \S+ still has another value of TOKEN_KEYS/);
      await until('the audit trail has the change', 60_000, async () => (await keyChanges()).length === 1);
      expect(await keyChanges()).toMatchObject([
        { service: 'token', detail: { key: idOf(OTHER), previous_key: idOf(SIGNING) } },
      ]);
    } finally {
      await apps.pop()?.stop();
      await database.query('DELETE FROM token_keys WHERE id = $1', [idOf(OTHER)]);
    }
  });
});

describe('a process that will stop', () => {
  it('is not in keys list, although it still answers requests', async () => {
    await listed();
    const app = await startTokenProcess(OTHER);
    apps.push(app);
    try {
      expect((await listed()).processes).toHaveLength(4);
      // Same as the preStop hook of k8s/base/token/deployment.yaml.
      process.kill(app.process.pid, 'SIGUSR2');
      await until('it reports the stop', 60_000, async () => (await app.missing())?.join() === 'stop');
      expect((await answers()).filter(({ missing = {} }) => 'stop' in missing)).toHaveLength(1);
      expect((jsonOf(await keys('list', '--json')) as Listed).processes).toHaveLength(3);
      expect((await fetch(`${app.url}/.well-known/oauth-authorization-server`)).status).toBe(200);
    } finally {
      await apps.pop()?.stop();
      await database.query('DELETE FROM token_keys WHERE id = $1', [idOf(OTHER)]);
    }
  });
});

describe('operator keys next', () => {
  it.each([
    ['', '--stdin: '],
    ['secret-value-that-is-no-key', '--stdin: '],
  ])('refuses the input %j, without falling back to TOKEN_KEYS', async (present, message) => {
    const result = await runCommand(['keys', 'next', '--stdin'], { ...env, TOKEN_KEYS }, present);
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(result.stderr).not.toContain('secret-value');
  });

  it('refuses a step while live tokens may need the older key, unless --begin is given', async () => {
    await listed();
    const waits = await next(TOKEN_KEYS);
    expect(waits).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(`${idOf(VERIFYING)} until 20`),
    });
    const step = jsonOf(await next(TOKEN_KEYS, '--begin', '--json')) as {
      token_keys: string;
      keys: string[];
    };
    expect(step).toMatchObject({ step: 1, action: 'add' });
    const added = step.token_keys.split(',');
    expect(added.slice(0, 2).join(',')).toBe(TOKEN_KEYS);
    expect(added.slice(2).map(idOf)).toEqual(step.keys);
  });

  it('moves an unused key to the front once every process has it', async () => {
    await listed();
    await setNeeded(VERIFYING, null);
    const { code, stdout, stderr } = await next(TOKEN_KEYS);
    expect([code, stdout]).toEqual([0, `${VERIFYING},${SIGNING}\n`]);
    expect(stderr).toMatch(new RegExp(`^Step 2 of 3 .*${idOf(VERIFYING)}`));
    for (const key of TOKEN_KEYS.split(',')) expect(stderr).not.toContain(key);
  });

  it('removes the older key once no live token can need it', async () => {
    await listed();
    await setNeeded(VERIFYING, '2020-01-01');
    expect(jsonOf(await next(TOKEN_KEYS, '--json'))).toEqual({
      step: 3,
      action: 'remove',
      keys: [idOf(VERIFYING)],
      token_keys: SIGNING,
    });
  });

  it('reads the current value from TOKEN_KEYS, and refuses a value that no process has', async () => {
    const { code, stderr } = await runCommand(['keys', 'next'], { ...env, TOKEN_KEYS: OTHER });
    expect([code, stderr]).toEqual([1, expect.stringMatching('no running process has this value')]);
    const missing = await runCommand(['keys', 'next'], env);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching('TOKEN_KEYS is missing')]);
  });

  it('prints no key in an error', async () => {
    const { code, stderr } = await next(`${SIGNING},short`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--stdin: ')]);
    expect(stderr).not.toContain(SIGNING);
  });
});
