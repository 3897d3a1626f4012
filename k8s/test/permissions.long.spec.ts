import { EventEmitter, once } from 'node:events';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { withDatabase } from '#test/support/test-database.js';
import { AUDIT_KINDS, AUDIT_STREAMS, AUDIT_TYPES, auditSubject } from '#audit/event.js';
import { typesNamed } from '#audit/filter.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { PRODUCT_SUBJECTS, SUBJECTS } from '#messaging/contract.js';
import { OPERATOR_SUBJECTS } from '#messaging/request-sender.js';
import { NatsConnection as ProcessConnection, natsOptions } from '#messaging/nats.connection.js';
import { STATUS_SERVICES, statusInbox, statusSubject } from '#messaging/service-status.js';
import { databaseDataSource } from '#database/data-source.js';
import { pendingMigrations } from '#database/migrate.js';
import { rightsDifference } from '#database/rights-inspection.js';
import { DATABASE_PROCESSES } from '#database/roles.js';
import { REDIS_PROCESSES, redisRightsDifference } from '#platform/redis/redis-rights.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { type Fixture, openFixture, REDIRECT_URI, started } from '#test/support/fixture.js';
import { runCommand } from '#local/servers/run-command.js';
import { becomesRefused, statusOfToken } from '#test/support/tokens.js';
import { until } from '#test/support/until.js';
import { NODE_ARGUMENTS } from '#test/support/built.js';
import { type Process, type Servers, startServers } from './servers.js';

const ADDRESSES = {
  AUTH_URL: 'https://auth.localhost',
  BASE_URL: 'https://base.localhost',
  API_URL: 'https://api.localhost',
  NODE_ENV: 'production',
};
const OPERATOR = 'dist/apps/operator.cjs';

describe('a development installation', () => {
  let servers: Servers;
  let migrated: Awaited<ReturnType<typeof operator>>;
  let waited: typeof migrated;
  const opened: NatsConnection[] = [];

  beforeAll(async () => {
    servers = await startServers();
    [waited, migrated] = await Promise.all([
      operator(['migrate', '--wait']),
      operator(['migrate'], 'migrate'),
    ]);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((connection) => connection.close()));
  });
  afterAll(() => servers?.stop());

  async function operator(args: string[], user: Process = 'operator') {
    const env = { PATH: process.env['PATH'], ...ADDRESSES, ...(await servers.environmentOf(user)) };
    return runCommand(process.execPath, [...NODE_ARGUMENTS, OPERATOR, ...args], { cwd: process.cwd(), env });
  }

  /** Connects as a user. `refusals` returns the denied operations and their subjects, such as `publish oauth.other`. */
  async function connected(
    user: Process,
    variable: 'NATS_URL' | 'AUDIT_NATS_URL' = 'NATS_URL',
  ): Promise<{ nats: NatsConnection; refusals: () => Promise<string[]> }> {
    const { [variable]: url = '' } = await servers.environmentOf(user);
    const nats = await connect(natsOptions(url, user));
    opened.push(nats);
    const refused: string[] = [];
    const heard = new EventEmitter();
    void (async () => {
      for await (const status of nats.status()) {
        if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue;
        const { operation, subject } = status.error;
        refused.push(`${operation} ${subject}`);
        heard.emit(subject);
      }
    })();
    const refusals = async (): Promise<string[]> => {
      // The server denies this subject to every user. Denials arrive in order, so all previous denials have arrived.
      const last = once(heard, 'nobody.says.this');
      nats.publish('nobody.says.this');
      await last;
      return refused.filter((what) => what !== 'publish nobody.says.this');
    };
    return { nats, refusals };
  }

  describe('PostgreSQL', () => {
    it.each(DATABASE_PROCESSES)('has an owner that changes tables, and a role for %s', async (process) => {
      expect(migrated).toMatchObject({ code: 0, stderr: '' });
      expect(waited).toMatchObject({ code: 0, stdout: expect.stringMatching(/is up to date\n$/) });
      const { DATABASE_URL = '' } = await servers.environmentOf(process);
      expect(await pendingMigrations(DATABASE_URL)).toEqual([]);
      const source = await databaseDataSource(DATABASE_URL).initialize();
      expect(await rightsDifference(source, process)).toEqual({ user: process, extra: [], missing: [] });
      await source.destroy();
      await withDatabase(DATABASE_URL, async (client) => {
        for (const statement of [
          'CREATE TABLE more (id integer)',
          'CREATE TABLE oauth.more (id integer)',
          'DROP TABLE oauth.clients',
          'ALTER TABLE oauth.clients ADD COLUMN more text',
          'TRUNCATE oauth.clients',
          'CREATE ROLE more',
          'CREATE SCHEMA more',
        ])
          await expect(client.query(statement)).rejects.toThrow(/permission denied|must be owner/);
      });
    });
  });

  describe('Redis', () => {
    it.each(REDIS_PROCESSES)('has a user for %s, without other rights', async (process) => {
      const { REDIS_URL = '' } = await servers.environmentOf(process);
      const redis = new Redis(REDIS_URL);
      const anybody = new Redis(REDIS_URL.replace(/\/\/.*@/, '//'), { maxRetriesPerRequest: 0 });
      anybody.on('error', () => undefined);
      try {
        await expect(anybody.get('grant:1')).rejects.toThrow(/NOAUTH/);
        for (const command of [
          'CONFIG GET *',
          'KEYS *',
          'FLUSHALL',
          'ACL LIST',
          'SHUTDOWN',
          'SAVE',
          'CLIENT LIST',
        ]) {
          const [name = '', ...args] = command.split(' ');
          await expect(redis.call(name, ...args)).rejects.toThrow(/NOPERM/);
        }
        expect(await redisRightsDifference(redis, process)).toEqual({
          user: process,
          extra: [],
          missing: [],
        });
      } finally {
        redis.disconnect();
        anybody.disconnect();
      }
    });
  });

  describe('NATS', () => {
    const {
      introspect,
      consumeProof,
      profile,
      claims,
      applyRevocations,
      sealHeader,
      clientKeys,
      grantRevoked,
      clientChanged,
      userChanged,
      requestGivenUp,
    } = SUBJECTS;
    const { userUpsert, userDisable, userDelete } = SUBJECTS;
    const { sendMail } = PRODUCT_SUBJECTS;
    const ASKED = Object.values(OPERATOR_SUBJECTS);
    const STATUS = STATUS_SERVICES.map(statusSubject);
    const STATUS_INBOXES = STATUS_SERVICES.map((service) => `${statusInbox('_INBOX.operator', service)}.1`);
    const CONSOLE_INBOXES = STATUS_SERVICES.map((service) => `${statusInbox('_INBOX.console', service)}.1`);
    const repliesOf = (service: string) =>
      [...STATUS_INBOXES, ...CONSOLE_INBOXES].filter((inbox) => inbox.includes(`.status.${service}.`));
    const INBOXES = [
      '_INBOX.authorize.1',
      '_INBOX.token.1',
      '_INBOX.resource.1',
      '_INBOX.console.1',
      '_INBOX.developers.1',
      '_INBOX.operator.1',
      '_INBOX.product.1',
      '_INBOX.1',
    ];
    const ELSEWHERE = [
      '$JS.API.INFO',
      '$JS.API.STREAM.INFO.OAUTH_AUDIT_OPERATOR',
      '$SYS.REQ.SERVER.PING',
      'oauth.other',
      'oauth.service.status',
      'oauth.refusal.resource.request.refused',
      'oauth.audit.operator.client.created',
    ];
    const BROADCASTS = [grantRevoked, clientChanged, userChanged];
    type User = Exclude<Process, 'migrate'>;
    const MAY: Record<User, { publish: string[]; subscribe: string[] }> = {
      authorize: {
        publish: [grantRevoked, clientChanged, ...repliesOf('authorize')],
        subscribe: [statusSubject('authorize'), ...ASKED, '_INBOX.authorize.1'],
      },
      token: {
        publish: [
          grantRevoked,
          clientChanged,
          userChanged,
          requestGivenUp,
          sendMail,
          ...repliesOf('token'),
          ...INBOXES,
        ],
        subscribe: [
          introspect,
          consumeProof,
          profile,
          claims,
          applyRevocations,
          sealHeader,
          clientKeys,
          userUpsert,
          userDisable,
          userDelete,
          statusSubject('token'),
          '_INBOX.token.1',
          requestGivenUp,
          ...BROADCASTS,
        ],
      },
      resource: {
        publish: [introspect, consumeProof, profile, claims, ...repliesOf('resource')],
        subscribe: [...BROADCASTS, statusSubject('resource'), '_INBOX.resource.1'],
      },
      operator: {
        publish: [clientChanged, userChanged, applyRevocations, sealHeader, ...STATUS, ...ASKED],
        subscribe: ['_INBOX.operator.1', ...STATUS_INBOXES],
      },
      console: {
        publish: [
          clientChanged,
          userChanged,
          applyRevocations,
          sealHeader,
          introspect,
          consumeProof,
          ...STATUS,
          ...ASKED,
          ...repliesOf('console'),
        ],
        subscribe: [...BROADCASTS, statusSubject('console'), '_INBOX.console.1', ...CONSOLE_INBOXES],
      },
      developers: {
        publish: [clientChanged, clientKeys, applyRevocations, ...repliesOf('developers')],
        subscribe: [statusSubject('developers'), '_INBOX.developers.1'],
      },
      product: {
        publish: [userUpsert, userDisable, userDelete, '_INBOX.token.1'],
        subscribe: [sendMail, '_INBOX.product.1'],
      },
    };
    const ALL = [
      ...Object.values(SUBJECTS),
      sendMail,
      ...ASKED,
      ...STATUS,
      ...STATUS_INBOXES,
      ...CONSOLE_INBOXES,
      ...INBOXES,
      ...ELSEWHERE,
    ];

    it.each(Object.keys(MAY) as (keyof typeof MAY)[])(
      'has a user for %s who can use only the subjects of that process',
      async (user) => {
        const { nats, refusals } = await connected(user);
        for (const subject of ALL) nats.publish(subject);
        const refused = await refusals();
        const said = ALL.filter((subject) => !refused.includes(`publish ${subject}`));
        expect(said.sort()).toEqual([...MAY[user].publish].sort());

        const listening = [...ALL, '>', 'oauth.>', '_INBOX.>', '*.*.*'];
        for (const subject of listening) nats.subscribe(subject);
        const denied = await refusals();
        const heard = listening.filter((subject) => !denied.includes(`subscription ${subject}`));
        expect(heard.sort()).toEqual([...MAY[user].subscribe].sort());
      },
    );

    it('allows the token app to reply only to inboxes', async () => {
      const [asker, answerer] = [await connected('resource'), await connected('token')];
      const replySubjects = [applyRevocations, introspect, 'oauth.other', '$JS.API.INFO'];
      answerer.nats.subscribe(introspect, {
        queue: 'token',
        callback: (_error, ask) => void ask.respond('yes'),
      });
      await answerer.nats.flush();
      for (const reply of replySubjects) asker.nats.publish(introspect, '{}', { reply });
      // NATS delivers in order, so all earlier requests have been handled when this reply arrives.
      const last = await asker.nats.request(introspect, '{}', { timeout: 30_000 });
      expect([last.string(), last.subject]).toEqual(['yes', expect.stringMatching(/^_INBOX\.resource\./)]);
      expect(await answerer.refusals()).toEqual(replySubjects.map((reply) => `publish ${reply}`));
    });

    const SERVICES = ['authorize', 'token', 'resource', 'operator', 'developers'] as const;
    const USERS = [...SERVICES, 'console'] as const;
    const EVENTS = SERVICES.flatMap((service) => AUDIT_TYPES.map((type) => auditSubject({ service, type })));
    const eventsOf = (service: (typeof SERVICES)[number], ...names: readonly string[]) =>
      names.flatMap(typesNamed).map((type) => auditSubject({ service, type }));
    const MANY = [...AUDIT_KINDS.activity.types, ...AUDIT_KINDS.refusals.types];
    const byOperator = eventsOf('operator', ...AUDIT_KINDS.trail.types, 'grant.revoked', 'login');
    const RECORDS: Record<(typeof USERS)[number], string[]> = {
      authorize: eventsOf('authorize', 'token_key', ...MANY),
      token: eventsOf('token', 'token.reuse_detected', 'token_key', 'user', ...MANY),
      resource: eventsOf('resource', ...AUDIT_KINDS.refusals.types),
      operator: byOperator,
      developers: eventsOf('developers', 'client', 'client_member', 'client_request', 'client_secret'),
      // The console performs the operator's actions, and also rejects requests.
      console: [...byOperator, ...eventsOf('operator', 'request')],
    };

    async function stored(): Promise<Record<string, number>> {
      const { nats } = await connected('migrate', 'AUDIT_NATS_URL');
      const { streams } = await jetstreamManager(nats);
      const infos = await Promise.all(AUDIT_STREAMS.map(({ name }) => streams.info(name)));
      return Object.fromEntries(infos.map(({ config, state }) => [config.name, state.messages]));
    }

    it.each(USERS)(
      'has an audit user for %s who can record only the events of that service',
      async (user) => {
        const { nats } = await connected(user, 'AUDIT_NATS_URL');
        const confirmed = await Promise.all(
          EVENTS.map(async (subject) => {
            const answer = await nats.request(subject, 'x', { timeout: 2_000 }).catch(() => null);
            return answer?.string().startsWith('{"stream":') ? [subject] : [];
          }),
        );
        expect(confirmed.flat().sort()).toEqual([...RECORDS[user]].sort());
      },
    );

    it.each(USERS)('has an audit user for %s who cannot change streams', async (user) => {
      const before = await stored();
      const { nats } = await connected(user, 'AUDIT_NATS_URL');
      const admin = await jetstreamManager((await connected('migrate', 'AUDIT_NATS_URL')).nats);
      const { config } = await admin.streams.info('OAUTH_AUDIT_OPERATOR');
      const requests: readonly (readonly [string, string])[] = [
        ['$JS.API.STREAM.UPDATE.OAUTH_AUDIT_OPERATOR', JSON.stringify({ ...config, max_msgs: 1 })],
        ['$JS.API.STREAM.PURGE.OAUTH_AUDIT_OPERATOR', ''],
        ['$JS.API.STREAM.MSG.DELETE.OAUTH_AUDIT_OPERATOR', JSON.stringify({ seq: 1 })],
        ['$JS.API.STREAM.DELETE.OAUTH_AUDIT_OPERATOR', ''],
        ['$JS.API.STREAM.CREATE.OTHER', JSON.stringify({ name: 'OTHER', subjects: ['other'] })],
      ];
      for (const [subject, body] of requests) {
        // NATS responds if the account has no JetStream, but does not respond to a forbidden request.
        const answer = await nats.request(subject, body, { timeout: 500 }).catch(() => null);
        if (answer)
          expect(answer.json()).toMatchObject({
            error: { description: expect.stringMatching(/not enabled/) },
          });
      }
      expect((await admin.streams.info('OAUTH_AUDIT_OPERATOR')).config).toEqual(config);
      expect(await stored()).toEqual(before);
    });

    it('delivers a confirmation only to the publisher’s account', async () => {
      const before = await stored();
      const heard: string[] = [];
      const targets = [...BROADCASTS, ...STATUS, introspect, '_INBOX.token.1', '_INBOX.operator.1'];
      for (const user of ['token', 'operator', 'resource', 'authorize'] as const) {
        const { nats } = await connected(user);
        for (const subject of MAY[user].subscribe)
          nats.subscribe(subject, {
            callback: (error, message) => void (error ?? heard.push(message.subject)),
          });
        await nats.flush();
      }
      const sent = Object.fromEntries(AUDIT_STREAMS.map(({ name }): [string, number] => [name, 0]));
      for (const user of ['authorize', 'token', 'resource'] as const) {
        const { nats } = await connected(user, 'AUDIT_NATS_URL');
        const subject = auditSubject({ service: user, type: 'request.refused' });
        const others = EVENTS.filter((event) => !RECORDS[user].includes(event));
        const replies = [...targets, '$JS.API.STREAM.PURGE.OAUTH_AUDIT_OPERATOR', ...others];
        for (const reply of replies) nats.publish(subject, 'x', { reply });
        // The app's user in the account OAUTH also publishes the event.
        const { nats: other } = await connected(user);
        for (const reply of replies) other.publish(subject, 'x', { reply });
        await other.flush();
        // NATS stores events in order, so this confirmation follows all others.
        await nats.request(subject, 'x', { timeout: 30_000 });
        sent[`OAUTH_REFUSALS_${user.toUpperCase()}`] = replies.length + 1;
      }
      await Promise.all(opened.map((connection) => connection.flush()));
      expect(heard).toEqual([]);
      const after = await stored();
      const added = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]);
      expect(Object.fromEntries(added)).toEqual(sent);
    });

    it('limits messages to 128 KB', async () => {
      const { nats } = await connected('resource');
      expect(nats.info?.max_payload).toBeLessThanOrEqual(128 * 1024);
      expect(nats.info?.max_payload).toBeGreaterThanOrEqual(64 * 1024);
    });

    it('requires a password', async () => {
      const { NATS_URL = '' } = await servers.environmentOf('token');
      const { host } = new URL(NATS_URL);
      await expect(connect({ servers: host, reconnect: false })).rejects.toThrow(/authorization/i);
    });
  });

  describe('the permissions', () => {
    const running: AppProcess[] = [];
    let fixture: Fixture;
    const app = started() as Record<'authorize' | 'token' | 'resource', AppProcess>;

    beforeAll(async () => {
      const tokenEnv = await servers.environmentOf('token');
      const names = ['token', 'resource', 'authorize'] as const;
      await Promise.all(
        names.map(async (name) => {
          app[name] = await startApp(name, { ...ADDRESSES, ...(await servers.environmentOf(name)) });
          running.push(app[name]);
        }),
      );
      fixture = await openFixture(
        {
          databaseUrl: servers.superuserUrl,
          redisUrl: tokenEnv['REDIS_URL'] ?? '',
          natsUrl: tokenEnv['NATS_URL'] ?? '',
          close: () => Promise.resolve(),
        },
        tokenEnv['TOKEN_KEYS'] ?? '',
      );
    });
    afterAll(async () => {
      await fixture?.close();
      await Promise.all(running.map((app) => app.stop()));
    });

    const me = (token: string) => statusOfToken(app.resource.url, token);
    const refused = (token: string) => becomesRefused(app.resource.url, token);

    async function tokenOf(client: { client_id: string; client_secret: string }, userId?: number) {
      const code = await fixture.code(client.client_id, userId ?? (await fixture.user()));
      const answer = await fetch(`${app.token.url}/api/auth/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          redirect_uri: REDIRECT_URI,
          ...client,
        }),
      });
      expect(answer.status).toBe(200);
      return (await answer.json()) as { access_token: string; refresh_token: string };
    }

    it('are sufficient for the whole flow and for evictions from caches', async () => {
      const registration = ['--name', 'A', '--redirect-uri', REDIRECT_URI, '--json'];
      const created = await operator(['client', 'create', ...registration]);
      expect(created).toMatchObject({ code: 0, stderr: '' });
      const { client_id, client_secret } = JSON.parse(created.stdout) as Record<string, string>;
      const client = { client_id: client_id ?? '', client_secret: client_secret ?? '' };
      const first = await tokenOf(client);
      expect(await me(first.access_token)).toBe(200);
      const refreshed = await fetch(`${app.token.url}/api/auth/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: first.refresh_token,
          ...client,
        }),
      });
      expect(refreshed.status).toBe(200);
      const revoked = await fetch(`${app.token.url}/api/auth/oauth/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ token: first.refresh_token, ...client }),
      });
      expect(revoked.status).toBe(200);
      await refused(first.access_token);

      const second = await tokenOf(client);
      expect(await me(second.access_token)).toBe(200);
      const deleted = await operator(['client', 'delete', client.client_id, '--yes']);
      expect(deleted).toMatchObject({ code: 0, stderr: '' });
      await refused(second.access_token);

      const { AUDIT_NATS_URL = '' } = await servers.environmentOf('operator');
      const events = await auditEvents(AUDIT_NATS_URL, { clientId: client.client_id }, 4);
      const types = new Set(events.map(({ type }) => type));
      expect(types).toContain('token.issued');
      expect(types).toContain('token.refreshed');
      expect(types).toContain('grant.revoked');
    });

    it('cause few log lines for forbidden reply subjects', async () => {
      const { introspect } = SUBJECTS;
      const { nats } = await connected('resource');
      const before = app.token.output().length;
      const reply = `${statusInbox('_INBOX.operator', 'authorize')}.1`;
      for (let n = 0; n < 2_000; n++) {
        const [subject, named] = n % 2 ? [introspect, reply] : [introspect, 'oauth.grant.revoked'];
        nats.publish(subject, JSON.stringify({ pattern: introspect, id: '1', data: { token: 'x' } }), {
          reply: named,
        });
      }
      // All violations have reached the process before the second response.
      for (let n = 0; n < 2; n++) await nats.request(introspect, '{}', { timeout: 30_000 });
      const violations = () => app.token.output().slice(before).split('Permissions Violation').length - 1;
      await until('a violation is logged', 30_000, () => violations() > 0);
      expect(violations()).toBeLessThan(10);
    });

    it('do not make a process report NATS as unavailable if they deny a subject', async () => {
      const { NATS_URL: natsUrl = '' } = await servers.environmentOf('resource');
      const lines: unknown[] = [];
      const note = (line: unknown): void => void lines.push(line);
      Logger.overrideLogger({ log: note, error: note, warn: note });
      const connection = new ProcessConnection({ natsUrl, name: 'test', invalidations: {} });
      try {
        await connection.open();
        connection.publish('oauth.grant.revoked', {});
        // The server answers in order: the violation has arrived before the second pong.
        for (let n = 0; n < 2; n++) await connection.ping();
        expect(lines).toEqual([]);
      } finally {
        Logger.overrideLogger(false);
        await connection.close();
      }
    });

    it('are sufficient for the console', async () => {
      const env = { ...ADDRESSES, ...(await servers.environmentOf('console')) };
      const login = { CONSOLE_ISSUER: ADDRESSES.BASE_URL, CONSOLE_CLIENT_ID: 'console' };
      const site = await startApp('console', { ...env, ...login, CONSOLE_URL: 'https://console.localhost' });
      running.push(site);
      const registration = ['--name', 'B', '--redirect-uri', REDIRECT_URI, '--json'];
      const created = await operator(['client', 'create', ...registration], 'console');
      expect(created).toMatchObject({ code: 0, stderr: '' });
      const { client_id: id = '' } = JSON.parse(created.stdout) as Record<string, string>;
      const { AUDIT_NATS_URL = '' } = await servers.environmentOf('console');
      const [event] = await auditEvents(AUDIT_NATS_URL, { clientId: id }, 1);
      expect(event).toMatchObject({ type: 'client.created', service: 'operator' });
      expect(await operator(['client', 'delete', id, '--yes'], 'console')).toMatchObject({
        code: 0,
        stderr: '',
      });
      expect(site.output()).not.toContain('Permissions Violation');
    });

    it.each(['operator', 'console'] as const)(
      'allow the processes with keys to report them to the %s',
      async (user) => {
        const listed = await operator(['keys', 'list', '--json'], user);
        expect(listed).toMatchObject({ code: 0, stderr: '' });
        const { processes } = JSON.parse(listed.stdout) as { processes: string[] };
        expect(processes.map((name) => name.split(' ')[0])).toEqual(['authorize', 'token']);
      },
    );

    it('allow `operator user delete` for a user with a live grant, but not a direct DELETE', async () => {
      const userId = await fixture.user();
      const { access_token: token } = await tokenOf(await fixture.client(), userId);
      expect(await me(token)).toBe(200);
      const deletion = fixture.sql('DELETE FROM users WHERE id = $1', [userId]);
      await expect(deletion).rejects.toThrow('user_grants_not_ended');
      const { username = '' } = (await fixture.users.find(userId)) ?? {};
      const deleted = await operator(['user', 'delete', username, '--yes']);
      expect(deleted).toMatchObject({ code: 0, stderr: '' });
      await refused(token);
      expect(await fixture.users.find(userId)).toBeNull();
    });

    it('allow authorize to broadcast a revocation', async () => {
      const { access_token: token } = await tokenOf(await fixture.client());
      expect(await me(token)).toBe(200);
      const id = fixture.grantIdOf(token);
      await fixture.records.revoke(id);
      const { nats } = await connected('authorize');
      await fixture.redis.del(`grant:${id}`);
      nats.publish(SUBJECTS.grantRevoked, JSON.stringify({ grant_id: id }));
      await nats.flush();
      await refused(token);
    });
  });
});
