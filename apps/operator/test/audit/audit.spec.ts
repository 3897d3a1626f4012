import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import request, { type Test } from 'supertest';
import { auditEvent, type AuditEvent, type AuditRecord } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { bodyText, startLogCollector } from '#test/support/log-collector.js';
import { auditEvents, undocumentedDetails } from '#test/support/audit-trail.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { runOperator } from '../support/run-operator.js';
import { expectRefused, jsonOf, runCommand, useOperator, useRunningApps } from '../support/use-operator.js';

describe('audit', () => {
  const operator = useOperator();
  const run = (...args: string[]) => operator.run(args, { ...operator.env, OPERATOR_NAME: 'ada' });
  const audit = (...args: string[]) => run('audit', ...args);
  const linesOf = (text: string) =>
    text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as AuditEvent]));

  let nats: NatsConnection;
  beforeAll(async () => (nats = await connect(natsOptions(operator.natsUrl, 'test'))));
  afterAll(() => nats.close());

  async function store(record: AuditRecord, time?: Date): Promise<AuditEvent> {
    const event = auditEvent('token', record, time);
    await storeEvent(nats, event);
    return event;
  }

  describe('the client and user commands', () => {
    it('are recorded with the operator’s name, but without secrets', async () => {
      const created = await run(
        'client',
        'create',
        '--name',
        'A',
        '--redirect-uri',
        'https://a.example/cb',
        '--json',
      );
      const { client_id: id, client_secret: secret } = jsonOf(created) as Record<string, string>;
      await run('client', 'update', id ?? '', '--name', 'B');
      const rotated = jsonOf(await run('client', 'secret', 'rotate', id ?? '', '--json')) as Record<
        string,
        string
      >;
      await run('client', 'secret', 'revoke', id ?? '', rotated['secret_id'] ?? '');
      await run('client', 'disable', id ?? '');
      await run('client', 'enable', id ?? '');
      const events = await auditEvents(operator.natsUrl, { clientId: String(id) }, 6);
      expect(events.map(({ type }) => type)).toEqual([
        'client.created',
        'client.updated',
        'client_secret.rotated',
        'client_secret.revoked',
        'client.disabled',
        'client.enabled',
      ]);
      expect(new Set(events.map(({ operator }) => operator))).toEqual(new Set([`ada@${hostname()}`]));
      expect(events[1]?.changes).toEqual({ name: { old: 'A', new: 'B' } });
      expect(events[4]?.changes).toEqual({ disabled: { old: false, new: true } });
      const { stdout } = await run('audit', 'search', '--client', id ?? '', '--type', 'client.updated');
      expect(stdout).toContain('name: - A + B');
      for (const hidden of [secret, rotated['client_secret']])
        expect(JSON.stringify(events)).not.toContain(hidden);
    });

    it('record created, changed and enabled users by id', async () => {
      const given = ['--email', 'eve@example.com', '--username', 'eve', '--name', 'Eve', '--json'];
      const { id, password } = jsonOf(await run('user', 'create', ...given)) as {
        id: number;
        password: string;
      };
      await run('user', 'update', 'eve', '--locale', 'de');
      await run('user', 'set-password', 'eve');
      await run('user', 'enable', 'eve');
      const events = await auditEvents(operator.natsUrl, { userId: id }, 4);
      const types = ['user.created', 'user.updated', 'user.password_changed', 'user.enabled'];
      expect(events.map(({ type }) => type)).toEqual(types);
      expect(events.map(({ changes }) => changes)).toEqual([
        undefined,
        { locale: { old: null, new: 'de' } },
        { password: { omitted: 'secret' } },
        undefined,
      ]);
      for (const personal of [password, 'eve']) expect(JSON.stringify(events)).not.toContain(personal);
    });

    it('succeed and print the event if NATS does not store it', async () => {
      const env = { ...operator.env, NATS_URL: 'nats://127.0.0.1:1' };
      const given = ['--email', 'b@example.com', '--username', 'b', '--name', 'B'];
      const { code, stderr } = await operator.run(['user', 'create', ...given], env);
      expect(code).toBe(0);
      const [, printed] = /^warning: NATS .* audit trail: (\{.*\})$/m.exec(stderr) ?? [];
      expect(JSON.parse(String(printed))).toMatchObject({ version: 1, type: 'user.created' });
    });
  });

  describe('operator audit search', () => {
    it('prints the newest matching events, oldest first, as a table or as JSON lines', async () => {
      // The order of events of one millisecond is undefined.
      const [one, two, three] = [1, 2, 3].map((later) => new Date(Date.now() + later));
      const first = await store({ type: 'token.issued', client_id: 'searched', user_id: 7 }, one);
      const second = await store({ type: 'request.refused', client_id: 'searched', check: 'expired' }, two);
      const third = await store({ type: 'token.refreshed', client_id: 'searched' }, three);
      const all = await audit('search', '--client', 'searched', '--json');
      expect(linesOf(all.stdout)).toEqual([first, second, third]);
      const newest = await audit('search', '--client', 'searched', '--limit', '2', '--json');
      expect(linesOf(newest.stdout)).toEqual([second, third]);
      expect(newest.stderr).toMatch(/there are older events/);
      const user = await audit('search', '--user', 'id:7', '--type', 'token', '--json');
      expect(linesOf(user.stdout)).toEqual([first]);
      const table = await audit('search', '--client', 'searched', '--type', 'request.refused');
      expect(table.stdout).toMatch(
        /^time +type +client_id .*\n.* request\.refused +searched .*failed check: expired \(token\)\n$/,
      );
      expect((await audit('search', '--client', 'nobody')).stdout).toBe('No events found.\n');
    });

    it('accepts the name of an application, but never treats a generated id as a name', async () => {
      const register = async (name: string) => {
        const given = ['--name', name, '--redirect-uri', 'https://a.example/cb', '--json'];
        return jsonOf(await run('client', 'create', ...given)) as { client_id: string };
      };
      const search = async (client: string) =>
        linesOf((await audit('search', '--client', client, '--type', 'token', '--json')).stdout);
      const { client_id } = await register('Room Finder');
      const event = await store({ type: 'token.issued', client_id });
      expect(await search('Room Finder')).toEqual([event]);
      const deleted = `sc_${'a'.repeat(24)}`;
      const old = await store({ type: 'token.issued', client_id: deleted });
      await register(deleted);
      expect(await search(deleted)).toEqual([old]);
      await register('Room Finder');
      expectRefused(
        await audit('search', '--client', 'Room Finder'),
        /2 applications are called "Room Finder": give the client_id/,
      );
    });

    it('finds the events of an application by its id without PostgreSQL', async () => {
      const event = await store({ type: 'token.issued', client_id: 'imported' });
      const env = { ...operator.env, DATABASE_URL: 'postgres://x:y@127.0.0.1:1/x' };
      const { stdout, stderr } = await operator.run(
        ['audit', 'search', '--client', 'imported', '--json'],
        env,
      );
      expect(linesOf(stdout)).toEqual([event]);
      expect(stderr).toContain('give the client_id of the client');
    });

    it('filters by a duration before now or a point in time', async () => {
      const hour = 3_600_000;
      const client_id = 'timed';
      const old = await store({ type: 'token.issued', client_id }, new Date(Date.now() - 2 * hour));
      const recent = await store({ type: 'token.issued', client_id });
      const found = async (...args: string[]) =>
        linesOf((await audit('search', '--client', client_id, '--json', ...args)).stdout);
      expect(await found('--since', '1h')).toEqual([recent]);
      expect(await found('--until', '1h')).toEqual([old]);
      expect(await found('--since', recent.time)).toEqual([recent]);
    });

    it('finds a deleted user by id, and suggests the id for an unknown name', async () => {
      const event = await store({ type: 'user.deleted', user_id: 4242 });
      const search = (user: string) => audit('search', '--json', '--user', user);
      const byName = await search('gone@example.com');
      expectRefused(
        byName,
        /there is no user .*for events of a deleted user, give the id, like --user id:42/,
      );
      expect(linesOf((await search('id:4242')).stdout)).toEqual([event]);
    });

    it('refuses an unknown type, an invalid time and a limit that is too large', async () => {
      const refused = await audit('search', '--type', 'nothing', '--since', 'tomorrow', '--limit', '20000');
      expectRefused(refused, /--type "nothing" is unknown: the types are client\.created, /);
      expect(refused.stderr).toMatch(/--since must be a time ago like 90s/);
      expect(refused.stderr).toMatch(/--limit must be a whole number from 1 to 10000/);
    });
  });

  describe('operator audit export', () => {
    it('writes all matching events to a new file that only its owner can read', async () => {
      const events: AuditEvent[] = [];
      for (let n = 0; n < 700; n++)
        events.push(await store({ type: 'token.issued', client_id: 'exported', user_id: n }));
      const file = join(operator.localDir, 'trail.jsonl');
      const done = await audit('export', '--client', 'exported', '--output', file);
      expect(done.stdout).toBe(`Wrote 700 events to ${file}\n`);
      expect(linesOf(await readFile(file, 'utf8'))).toEqual(events);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expectRefused(
        await audit('export', '--output', file),
        /--output: .* already exists, and is not overwritten: choose another name/,
      );
      const piped = await audit('export', '--client', 'exported');
      expect(linesOf(piped.stdout)).toEqual(events);
    });
  });

  describe('operator audit tail', () => {
    it('prints new events until it is interrupted', async () => {
      const stored = await store({ type: 'token.issued', client_id: 'tailed' });
      const args = [
        'dist/apps/operator.cjs',
        'audit',
        'tail',
        '--client',
        'tailed',
        '--since',
        '1h',
        '--json',
      ];
      const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...operator.env } });
      const closed = once(child, 'close');
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const next = async () => JSON.parse(String((await lines.next()).value)) as AuditEvent;
      expect(await next()).toEqual(stored);
      const happened = await store({ type: 'request.refused', client_id: 'tailed' });
      expect(await next()).toEqual(happened);
      child.kill('SIGINT');
      expect(await closed).toEqual([0, null]);
    });
  });

  it('the operator records only details that docs/audit.md describes', async () => {
    const events = await auditEvents(operator.natsUrl, {}, 5);
    expect(await undocumentedDetails(events)).toEqual([]);
  });

  describe('a command', () => {
    it('exports its events as logs before it ends', async () => {
      const collector = await startLogCollector();
      const env = { ...operator.env, OPERATOR_NAME: 'ada', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: collector.url };
      const args = [
        'client',
        'create',
        '--name',
        'Rooms',
        '--redirect-uri',
        'https://a.example/cb',
        '--json',
      ];
      const { code, stdout } = await runOperator(args, env);
      expect(code).toBe(0);
      const { client_id: clientId } = JSON.parse(stdout) as { client_id: string };
      const [log, ...others] = collector.logs;
      expect([log?.eventName, others]).toEqual(['client.created', []]);
      expect([log && bodyText(log, 'client_id'), log && bodyText(log, 'operator')]).toEqual([
        clientId,
        expect.stringMatching(/^ada@/),
      ]);
      collector.close();
    });
  });
});

describe('caller address', () => {
  const OURS = { 'X-Forwarded-For': '203.0.113.7', 'User-Agent': 'calendar/2.1' };
  const THIEF = { 'X-Forwarded-For': '2001:DB8:0:0::1', 'User-Agent': 'curl/8.5.0' };

  const { env, urls, fixture } = useRunningApps(['authorize', 'token', 'resource'], {
    TRUSTED_PROXIES: '127.0.0.1/32',
    AUDIT_CLIENT_ADDRESS: 'true',
    RETRY_WINDOW: '0',
  });
  let client: TestClient;
  let userId: number;

  beforeAll(async () => {
    client = await fixture.client();
    userId = await fixture.user();
  });

  const refused = async (test: Test): Promise<AuditEvent | undefined> => {
    const { headers, text } = await test;
    const shown = /[\w-]{12}(?=<\/code>)|(?<="error_reference":")[\w-]{12}/.exec(text)?.[0];
    const reference = String(headers['error-reference'] ?? shown);
    return (await auditEvents(env.NATS_URL, { reference }))[0];
  };

  const unknownToken = (headers: Readonly<Record<string, string>>) =>
    refused(request(urls.token).post('/api/auth/oauth/token').set(headers).type('form').send('grant_type=x'));

  const refresh = (refresh_token: string, headers: Readonly<Record<string, string>>) =>
    request(urls.token)
      .post('/api/auth/oauth/refreshToken')
      .set(headers)
      .type('form')
      .send({ ...client, grant_type: 'refresh_token', refresh_token });

  async function issued(): Promise<string> {
    const code = await fixture.code(client.client_id, userId);
    const { body } = await request(urls.token)
      .post('/api/auth/oauth/token')
      .set(OURS)
      .type('form')
      .send({ ...client, grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
    return (body as { refresh_token: string }).refresh_token;
  }

  describe('AUDIT_CLIENT_ADDRESS=true', () => {
    it('records the address and the user agent of a request to every app', async () => {
      const events = [
        await refused(request(urls.authorize).get('/auth/oauth2/authorize?client_id=x').set(OURS)),
        await unknownToken(OURS),
        await refused(request(urls.resource).get('/v2/me').set(OURS)),
      ];
      const caller = { address: '203.0.113.7', user_agent: 'calendar/2.1' };
      expect(events).toEqual(
        ['authorize', 'token', 'resource'].map((service) => expect.objectContaining({ service, ...caller })),
      );
    });

    it('records only valid addresses, in canonical form', async () => {
      expect(await unknownToken(THIEF)).toMatchObject({ address: '2001:db8::1' });
      expect(await unknownToken({ 'X-Forwarded-For': '::ffff:203.0.113.7' })).toMatchObject({
        address: '203.0.113.7',
      });
      for (const forged of ['x'.repeat(5_000), '<b>', '203.0.113.7:80', 'fe80::1%\u009b31m'])
        expect(await unknownToken({ 'X-Forwarded-For': forged })).not.toHaveProperty('address');
    });

    it('limits the length of the user agent and replaces its control characters', async () => {
      const { user_agent: agent = '' } =
        (await unknownToken({ 'User-Agent': `a\u009b31m${'b'.repeat(5_000)}` })) ?? {};
      expect(agent).toHaveLength(200);
      expect(agent).toMatch(/^aÂ\uFFFD31mb+$/);
      expect(agent).not.toMatch(/\p{C}/u);
    });
  });

  describe('a reused refresh token', () => {
    it('is explained with all uses of the grant and both possible causes', async () => {
      const token = await issued();
      await refresh(token, THIEF);
      const reuse = await refused(refresh(token, OURS));
      const { stdout } = await runCommand(['explain', String(reuse?.reference)], env);
      expect(stdout).toMatch(/^Address +203\.0\.113\.7$/m);
      expect(stdout).toMatch(/^User agent +calendar\/2\.1$/m);
      expect(stdout).toMatch(/stolen.*application sent an old one/);
      const [, section = ''] = /\nUses of the grant\n(.*?)\n\n/s.exec(stdout) ?? [];
      const rows = section.split('\n').map((line) => line.split(/ {2,}/).slice(1, 5));
      expect(rows).toEqual([
        ['event', 'generation', 'address', 'user_agent'],
        ['token.issued', '1', '203.0.113.7', 'calendar/2.1'],
        ['token.refreshed', '2', '2001:db8::1', 'curl/8.5.0'],
        ['token.reuse_detected', '1', '203.0.113.7', 'calendar/2.1'],
      ]);
      expect(stdout).not.toContain('AUDIT_CLIENT_ADDRESS is not true');
      const json = jsonOf(await runCommand(['explain', String(reuse?.reference), '--json'], env));
      expect(json).toMatchObject({ uses: [{}, { address: '2001:db8::1' }, {}] });
    });

    it('appears in audit search with address and user agent', async () => {
      const { stdout } = await runCommand(['audit', 'search', '--client', client.client_id], env);
      expect(stdout).toMatch(/^time .* address +user_agent +summary$/m);
      expect(stdout).toMatch(/ 2001:db8::1 +curl\/8\.5\.0 /);
    });
  });
});
