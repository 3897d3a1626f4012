import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { AUDIT_STREAMS } from '#audit/event.js';
import { natsOptions } from '#messaging/nats.connection.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { statusSubject } from '#messaging/service-status.js';
import { type AppProcess, launchApp, startApp } from '#test/support/app-process.js';
import { freePort } from '#local/servers/free-port.js';
import { type Certificate, createCertificate } from '#test/support/certificate.js';
import { type Fixture, openFixture, REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';
import { AREAS } from '#diagnosis/finding.js';
import type { Outcome } from '../support/outcome.js';
import { expectRefused, runCommand } from '../support/use-operator.js';

let services: Isolated;
let fixture: Fixture;
let apps: AppProcess[];
let env: Record<string, string>;
let first: Report;

beforeAll(async () => {
  services = await isolate();
  const [authorizePort, tokenPort, resourcePort] = [await freePort(), await freePort(), await freePort()];
  env = {
    AUTH_URL: `http://127.0.0.1:${authorizePort}`,
    BASE_URL: `http://127.0.0.1:${tokenPort}`,
    API_URL: `http://127.0.0.1:${resourcePort}`,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    TOKEN_KEYS: randomBytes(32).toString('base64url'),
  };
  const own = { ...env, LOG_LEVEL: 'warn' };
  apps = await Promise.all([
    startApp('authorize', own, { port: authorizePort }),
    startApp('token', own, { port: tokenPort }),
    startApp('resource', own, { port: resourcePort }),
  ]);
  fixture = await openFixture(services, env['TOKEN_KEYS'] ?? '');
  first = await report();
});

afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  await fixture.close();
  await services.close();
});

interface Report {
  passed: boolean;
  counts: Record<string, number>;
  findings: {
    check: string;
    severity: string;
    standards: string[];
    subject: string;
    problem: string;
    remedy: string;
  }[];
  holding: string[];
  not_checked: { check: string; reason: string }[];
}

const doctor = (args: string[] = [], settings: Record<string, string> = {}): Promise<Outcome> =>
  runCommand(['doctor', ...args], { ...env, ...settings });

async function report(settings: Record<string, string> = {}): Promise<Report> {
  const { stdout, stderr } = await doctor(['--json'], settings);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Report;
}

const problemsOf = ({ findings }: Report, check: string): string[] =>
  findings
    .filter((finding) => finding.check === check)
    .map(({ subject, problem }) => `${subject}: ${problem}`);

describe('operator doctor', () => {
  it('finds no fault in the addresses, metadata, cookies and headers of the running product', () => {
    const { findings, holding } = first;
    expect(holding).toEqual(
      expect.arrayContaining([
        'address-unencrypted',
        'address-unreachable',
        'path-not-routed',
        'metadata-wrong',
        'metadata-weak',
        'api-open',
        'internal-port-public',
        'cookie-weak',
        'header-framing',
        'header-nosniff',
        'header-referrer',
        'header-cache',
        'authorize-cors',
        'migrations-missing',
      ]),
    );
    expect(findings.filter(({ check }) => check === 'address-loopback')).toHaveLength(3);
  });

  it('finds that the test database lacks durability, and that each process has a dedicated role', () => {
    expect(problemsOf(first, 'database-not-durable').join('\n')).toMatch(
      /synchronous_commit is off.*fsync is off/s,
    );
    expect(first.holding).toEqual(
      expect.arrayContaining(['database-superuser', 'rights-missing', 'rights-excessive']),
    );
  });

  it('finds that the test Redis lacks persistence, and that the NATS user has excessive permissions', () => {
    expect(problemsOf(first, 'redis-not-persistent')).toEqual([
      expect.stringMatching(/^Redis of authorize .*, token /),
    ]);
    expect(first.holding).toEqual(
      expect.arrayContaining([
        'redis-evicts',
        'nats-anonymous',
        'settings-differ',
        'clock-wrong',
        'process-missing',
      ]),
    );
    expect(problemsOf(first, 'nats-permissions').join()).toMatch(
      /read the tokens .*read responses to other clients .*change users/,
    );
    expect(problemsOf(first, 'audit-deletable').join()).toMatch(/delete its streams and shorten its streams/);
    expect(problemsOf(first, 'audit-shared-account')).toHaveLength(1);
    expect(first.holding).toEqual(expect.arrayContaining(['audit-stream-missing', 'audit-stream-differs']));
  });

  it('finds missing and misconfigured audit streams', async () => {
    const other = await isolate();
    const nats = await connect(natsOptions(other.natsUrl, 'planted'));
    const { streams } = await jetstreamManager(nats);
    const parts = AREAS.filter((area) => area !== 'nats');
    const examine = async (): Promise<Report> => {
      const args = ['doctor', '--json', '--skip', ...parts];
      const { stdout } = await runCommand(args, { ...env, NATS_URL: other.natsUrl });
      return JSON.parse(stdout) as Report;
    };
    try {
      expect((await examine()).holding).toEqual(
        expect.arrayContaining(['audit-stream-missing', 'audit-stream-differs']),
      );
      await streams.delete('OAUTH_REFUSALS_TOKEN');
      await streams.delete('OAUTH_ACTIVITY_TOKEN');
      await streams.add({
        name: 'OAUTH_ACTIVITY_TOKEN',
        subjects: ['oauth.activity.token.>'],
        max_bytes: 1024 ** 2,
      });
      await streams.update('OAUTH_REFUSALS_RESOURCE', { max_msgs: 1 });
      const found = await examine();
      expect(problemsOf(found, 'audit-stream-missing')).toEqual([
        expect.stringMatching(/ OAUTH_REFUSALS_TOKEN: there is no such stream/),
      ]);
      expect(problemsOf(found, 'audit-stream-differs')).toEqual([
        expect.stringMatching(
          / OAUTH_ACTIVITY_TOKEN: its .*deny_delete, deny_purge, max_bytes are not as migrate/,
        ),
        expect.stringMatching(/ OAUTH_REFUSALS_RESOURCE: its max_msgs are not as migrate sets them$/),
      ]);
    } finally {
      await Promise.all(AUDIT_STREAMS.map(({ name }) => streams.delete(name).catch(() => undefined)));
      await nats.close();
      await other.close();
    }
  });

  /** Runs `work` together with a process that reports this status and valid values for all other required fields. */
  async function withProcess(status: Partial<ServiceStatus>, work: () => Promise<void>): Promise<void> {
    const nats = await connect(natsOptions(services.natsUrl, 'planted'));
    nats.subscribe(statusSubject(status.service ?? 'token'), {
      callback: (_, message) => {
        const time = new Date().toISOString();
        const answer = {
          service: 'token',
          instance: 'planted:1',
          version: '0.1.0',
          started_at: time,
          time,
          ...status,
        };
        message.respond(JSON.stringify(answer));
      },
    });
    await nats.flush();
    await work();
    await nats.close();
  }

  it('finds a process whose clock, version, settings or Redis differ from the expected ones', async () => {
    const planted = {
      time: '2026-01-01T00:00:00.000Z',
      version: '0.0.9',
      settings: { BASE_URL: 'https://other.example.com', NODE_ENV: 'development' },
      audit: { waiting: 0, dropped: 7 },
      redis: {
        version: '8.0.0',
        maxmemory_policy: 'allkeys-lru',
        appendonly: 'yes',
        aof_last_write_status: 'ok',
        aof_replay: 'yes',
        role: 'master',
        connected_replicas: 1,
      },
    };
    await withProcess(planted, async () => {
      const found = await report();
      expect(problemsOf(found, 'clock-wrong')).toEqual([
        expect.stringContaining('token planted:1: its clock is'),
      ]);
      expect(problemsOf(found, 'versions-differ')).toEqual([
        expect.stringContaining('0.0.9 in token planted:1'),
      ]);
      expect(problemsOf(found, 'settings-differ')).toEqual([
        expect.stringContaining('https://other.example.com in token planted:1'),
      ]);
      expect(problemsOf(found, 'redis-evicts')).toEqual([
        expect.stringContaining('Redis of token planted:1'),
      ]);
      expect(problemsOf(found, 'audit-dropped')).toEqual([expect.stringContaining('it lost 7 events')]);
      expect(problemsOf(found, 'not-production')).toHaveLength(1);
    });
  });

  it('finds a process that never became ready, with the reason', async () => {
    expect(first.holding).toContain('process-not-ready');
    const app = await launchApp('token', { ...env, REDIS_URL: 'redis://127.0.0.1:1', LOG_LEVEL: 'fatal' });
    try {
      await until('the process answers over NATS', 60_000, async () => {
        const found = problemsOf(await report(), 'process-not-ready');
        return found.length > 0 && /: it gets no requests: \/readyz misses redis \(.+\);/.test(found.join());
      });
    } finally {
      await app.stop();
    }
  });

  it('finds processes with another key, and a key that was removed too early', async () => {
    const neededUntil = "now() + interval '1 day'";
    await fixture.sql(
      `INSERT INTO token_keys (id, ring, last_signed_at, needed_until) VALUES ('0badc0de', 'token', now(), ${neededUntil})`,
    );
    await withProcess({ keys: [{ id: '12345678', role: 'signing' }] }, async () => {
      const found = await report();
      expect(problemsOf(found, 'key-unknown').join()).toMatch(/key 12345678 signs in token planted:1/);
      expect(problemsOf(found, 'keys-differ')).toHaveLength(1);
      expect(problemsOf(found, 'key-removed-early')).toEqual([expect.stringContaining('0badc0de')]);
    });
    await fixture.sql("DELETE FROM token_keys WHERE id = '0badc0de'");
  });

  describe('with TLS servers', () => {
    let folder: string;
    let identity: Certificate;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'doctor-'));
      identity = await createCertificate(folder);
    });
    afterAll(() => rm(folder, { recursive: true }));

    const OUTDATED = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const listening = async (server: Server): Promise<number> => {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return (server.address() as AddressInfo).port;
    };
    const OTHERS = ['processes', 'keys', 'postgresql', 'redis', 'nats', 'audit', 'events', 'mail', 'clients'];
    const examine = async (settings: Record<string, string>) => {
      const { stdout } = await doctor(['--json', '--skip', ...OTHERS], settings);
      return JSON.parse(stdout) as Report;
    };

    it('finds an untrusted certificate, and a server that accepts outdated TLS', async () => {
      const server = createServer({ ...identity, ...OUTDATED }, (_, response) => response.end());
      const port = await listening(server);
      const found = await examine({ API_URL: `https://localhost:${port}` });
      server.close();
      expect(problemsOf(found, 'certificate-untrusted')).toEqual([
        expect.stringMatching(/^API_URL localhost:\d+: its certificate is not trusted/),
      ]);
      expect(problemsOf(found, 'tls-outdated')).toHaveLength(1);
      expect(problemsOf(found, 'address-unreachable').join()).toMatch(/SELF_SIGNED/);
      expect(found.holding).toContain('certificate-expires');
    });

    it('reads the certificates of PostgreSQL and NATS, which start TLS differently', async () => {
      // The findings prove that the handshake reached TLS.
      const secureContext = createSecureContext({ ...identity, ...OUTDATED });
      const upgrade = (socket: Socket) =>
        new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => undefined);
      const postgres = createTcpServer((socket) =>
        socket.once('data', (request: Buffer) => {
          expect(request.toString('hex')).toBe('0000000804d2162f');
          socket.write('S', () => upgrade(socket));
        }),
      );
      const nats = createTcpServer((socket) =>
        socket.write('INFO {"tls_required":true}\r\n', () => upgrade(socket)),
      );
      const [postgresPort, natsPort] = [await listening(postgres), await listening(nats)];
      const found = await examine({
        DATABASE_URL: `postgres://me:secret@localhost:${postgresPort}/oauth`,
        NATS_URL: `tls://me:secret@localhost:${natsPort}`,
      });
      postgres.close();
      nats.close();
      expect(problemsOf(found, 'tls-outdated')).toEqual([
        expect.stringMatching(/^DATABASE_URL localhost:/),
        expect.stringMatching(/^NATS_URL localhost:/),
      ]);
      // Other clients of these servers may trust a private certificate authority.
      expect(found.holding).toContain('certificate-untrusted');
    });
  });

  it('finds clients that redeem codes without PKCE, and no others', async () => {
    const [without, withPkce] = [await fixture.client(), await fixture.client()];
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const userId = await fixture.user();
    const redeem = async (
      client: TestClient,
      pending: { challenge?: string },
      more: Record<string, string>,
    ) => {
      const code = await fixture.code(client.client_id, userId, pending);
      const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client, ...more };
      const answer = await fetch(`${env['BASE_URL']}/api/auth/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams(body),
      });
      expect(answer.status).toBe(200);
    };
    await redeem(without, {}, {});
    await redeem(withPkce, { challenge }, { code_verifier: verifier });
    await until('the audit trail has both', 60_000, async () => {
      const found = await report();
      return found.findings.some(({ check }) => check === 'client-without-pkce');
    });
    expect(problemsOf(await report(), 'client-without-pkce')).toEqual([
      expect.stringContaining(`${without.client_id} "Calendar Connect": it redeemed a code without PKCE`),
    ]);
    await fixture.registrations.delete(without.client_id);
    await fixture.registrations.delete(withPkce.client_id);
  });

  it('finds clients with bad redirect URIs, secrets and scopes', async () => {
    const { client_id: id } = await fixture.client();
    const uris = ['http://app.example.com/cb', 'https://client.invalid/cb', 'http://127.0.0.1/cb'];
    await fixture.sql('UPDATE clients SET redirect_uris = $2, scopes = $3 WHERE client_id = $1', [
      id,
      uris,
      ['profile:read', 'gone:read'],
    ]);
    await fixture.sql(
      "UPDATE client_secrets SET created_at = now() - interval '40 days' WHERE client_id = $1",
      [id],
    );
    const { client_id: old } = await fixture.client();
    await fixture.sql(
      "UPDATE client_secrets SET created_at = now() - interval '400 days', last_used_at = now() WHERE client_id = $1",
      [old],
    );
    const { findings } = await report();
    const findingsOf = (clientId: string) =>
      findings
        .filter(({ subject }) => subject.includes(clientId))
        .map(({ check, severity }) => `${severity} ${check}`);
    expect(findingsOf(id)).toEqual([
      'error redirect-uri-unencrypted',
      'warning redirect-uri-unresolvable',
      'warning redirect-uri-loopback',
      'warning secret-never-used',
      'warning client-scope-unknown',
    ]);
    expect(findingsOf(old)).toEqual(['warning redirect-uri-unresolvable', 'warning secret-old']);
    await fixture.registrations.delete(id);
    await fixture.registrations.delete(old);
  });

  it('finds missing migrations', async () => {
    const last = 'SELECT name FROM oauth.migrations ORDER BY id DESC LIMIT 1';
    const [row] = (await fixture.sql(last)) as { name: string }[];
    await fixture.sql(`UPDATE oauth.migrations SET name = $1 WHERE name = $2`, [`x${row?.name}`, row?.name]);
    expect(problemsOf(await report(), 'migrations-missing')).toEqual([
      expect.stringContaining(`it lacks ${row?.name}`),
    ]);
    await fixture.sql(`UPDATE oauth.migrations SET name = $2 WHERE name = $1`, [`x${row?.name}`, row?.name]);
  });

  it('finds addresses that do not respond or differ from the metadata', async () => {
    const wrong = await report({ AUTH_URL: 'http://localhost:1' });
    expect(problemsOf(wrong, 'address-unreachable')).toEqual([expect.stringContaining('http://localhost:1')]);
    expect(problemsOf(wrong, 'metadata-wrong')).toEqual([
      expect.stringContaining('authorization_endpoint is'),
    ]);
  });

  it('finds each public path that the proxy does not route to its app', async () => {
    const missing = ['/.well-known/openid-configuration', '/api/auth/oauth/par'];
    const proxy = createHttpServer((request, response) => {
      if (missing.includes(request.url ?? '')) {
        response.writeHead(404).end('default backend - 404');
        return;
      }
      void fetch(`${env['BASE_URL']}${request.url}`, { redirect: 'manual' }).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(await answer.text());
      });
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const found = await report({ BASE_URL: url });
    proxy.close();
    expect(problemsOf(found, 'path-not-routed').sort()).toEqual(
      missing.map((path) => `${url}${path}: it answers 404, and the response is not from the token app`),
    );
  });

  it('reports an area that it cannot examine as a finding, and examines the rest', async () => {
    const databaseUrl = 'postgres://me:dbpassword@127.0.0.1:1/oauth';
    const { stdout, code } = await doctor(['--json'], { DATABASE_URL: databaseUrl });
    const found = JSON.parse(stdout) as Report;
    expect(code).toBe(4);
    expect(problemsOf(found, 'not-examined')).toHaveLength(5);
    expect(found.holding).toContain('metadata-wrong');
    expect(found.not_checked.map(({ check }) => check)).toContain('database-not-durable');
    expect(stdout).not.toContain('dbpassword');
  });

  it('exits with 4 and prints each finding with its standards, subject and remedy', async () => {
    const { client_id: id } = await fixture.client();
    await fixture.sql('UPDATE clients SET redirect_uris = $2 WHERE client_id = $1', [
      id,
      ['http://app.example.com/cb', 'https://app.example.com/cb'],
    ]);
    const { code, stdout, stderr } = await doctor();
    expect({ code, stderr }).toEqual({ code: 4, stderr: '' });
    expect(stdout).toMatch(
      /^ERROR redirect-uri-unencrypted \[RFC 9700 2\.6, .*ASVS 5\.0 12\.2\.1\]\n {2}expected: redirect URIs are https.*\n {2}sc_.*\n {4}.*http:\/\/app\.example\.com\/cb.*\n {4}remedy: register .*:\n {6}operator client update sc_.* --remove-redirect-uri http:\/\/app\.example\.com\/cb$/m,
    );
    expect(stdout).toMatch(/^\d+ checks passed; \d+ errors?, \d+ warnings?, \d+ notes?\.$/m);
    await fixture.registrations.delete(id);
  });

  it('never prints a secret', async () => {
    const client = await fixture.client();
    const { stdout } = await doctor();
    const [, , password = randomUUID()] = /:\/\/([^:]*):([^@]*)@/.exec(services.databaseUrl) ?? [];
    for (const secret of [client.client_secret, env['TOKEN_KEYS'] ?? '', password])
      expect(stdout).not.toContain(secret);
  });

  it('skips the areas given with --skip', async () => {
    const { stdout } = await doctor(['--json', '--skip', 'postgresql', 'addresses'], {
      AUTH_URL: 'http://localhost:1',
    });
    const found = JSON.parse(stdout) as Report;
    expect(found.findings.map(({ check }) => check)).not.toContain('address-unreachable');
    expect(found.not_checked).toContainEqual({
      check: 'database-not-durable',
      reason: 'the caller skipped it',
    });
    expectRefused(await doctor(['--skip', 'everything']), /Allowed choices are addresses, /);
  });

  it('refuses an unknown severity', async () => {
    expectRefused(await doctor(['--fail-on', 'info']), /Allowed choices are error, warning/);
  });
});
