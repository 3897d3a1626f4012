import { randomBytes } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { type Browser, wordsOf } from '#test/support/browser.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';
import { auditEvent } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { storeClient } from '#test/support/stored.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';
import { JobStore } from '../../src/jobs/job.store.js';

describe('health', () => {
  const TOKEN_KEYS = randomBytes(32).toString('base64url');

  let services: Isolated;
  let processes: AppProcess[];
  let app: ConsoleApp;
  let admin: Browser;

  // Starts real processes, which answer the checks.
  beforeAll(async () => {
    services = await isolate();
    const settings = { ...appSettings(services), LOG_LEVEL: 'fatal', TOKEN_KEYS };
    processes = [
      await startApp('token', settings),
      await startApp('authorize', { ...settings, CLOCK_SKEW: '4' }),
    ];
    app = await startConsoleApp({}, services);
    admin = await app.operator('admin');
  });

  beforeEach(() => {
    app.clock.ahead = 0;
  });

  afterAll(async () => {
    await app.close();
    for (const running of processes) await running.stop();
    await services.close();
  });

  it('the health page runs a check in the background and shows the findings and the processes', async () => {
    const viewer = await app.operator('viewer', 'vera');
    const before = await viewer.get('/health');
    expect(wordsOf(before)).toContain('No check ran');
    const started = await viewer.submit(before, {}, '/health');
    expect(started.headers['location']).toBe('/health');
    expect(wordsOf(await viewer.get('/health'))).toContain('A check is running');
    let page = before;
    await until('the result', 60_000, async () => {
      page = await viewer.get('/health');
      return !page.text.includes('A check is running');
    });
    expect(page.text).toContain('<bdi>vera</bdi>');
    expect(wordsOf(page)).toContain('CLOCK_SKEW=4');
    // Differs from the empty CONSOLE_URL of the token app.
    expect(wordsOf(page)).toContain('CONSOLE_URL=http://localhost:3004');
    expect(page.text).toContain('Findings, the most severe first');
    expect(wordsOf(page)).toMatch(/token \S+:\d+/);
  });

  it('the health page groups the findings of a check, and links the applications', async () => {
    const before = await app.redis.get('console:health:result');
    const findings = Array.from({ length: 204 }, (_, at) => ({
      check: at < 200 ? 'secret-never-used' : 'redirect-uri-loopback',
      severity: 'warning',
      holds: 'expected',
      subject: `sc_${at} "App"`,
      clientId: `sc_${at}`,
      problem: `problem ${at}`,
      remedy: 'remedy',
    }));
    const health = {
      at: 0,
      by: 'vera',
      diagnosis: { value: { findings, holding: [], notChecked: [] } },
      processes: { value: [] },
      keys: { problem: 'x' },
    };
    await app.redis.set('console:health:result', JSON.stringify(health));
    const { text } = await admin.get('/health');
    const [, table = ''] = /<tbody([^]*?)<\/tbody>/.exec(text) ?? [];
    expect(table.match(/<tr/g)).toHaveLength(2);
    expect(table.match(/<a href="\/applications\/sc_\d+"/g)).toHaveLength(204);
    if (before !== null) await app.redis.set('console:health:result', before);
  });

  it('the health page links the command of a remedy to the page that does the same', async () => {
    const before = await app.redis.get('console:health:result');
    const command = (...words: readonly string[]) => ({ text: 'if it is not needed', command: words });
    const remedy = [
      command('client', 'secret', 'revoke', 'https://rooms.example.com/client', 's1'),
      command('client', 'update', 'sc_1', '--remove-scope', 'x'),
      command('explain', '--client', 'sc_1', '--since', '1d'),
      command('keys', 'next'),
      command('migrate'),
    ];
    const finding = {
      check: 'secret-never-used',
      severity: 'warning',
      holds: 'x',
      subject: 's',
      problem: 'p',
      remedy,
    };
    const diagnosis = { value: { findings: [finding], holding: [], notChecked: [] } };
    const health = { at: 0, by: 'vera', diagnosis, processes: { problem: 'x' }, keys: { problem: 'x' } };
    await app.redis.set('console:health:result', JSON.stringify(health));
    const links = async (operator: Browser) => {
      const [, cell = ''] = /<tbody([^]*?)<\/tbody>/.exec((await operator.get('/health')).text) ?? [];
      return [...cell.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    };
    expect(await links(admin)).toEqual([
      '/applications/https%3A%2F%2Frooms.example.com%2Fclient/secrets/s1/revoke',
      '/applications/sc_1/edit',
      '/events?client=sc_1',
      '/health/keys',
    ]);
    expect(await links(await app.operator('viewer'))).toEqual(['/events?client=sc_1']);
    if (before !== null) await app.redis.set('console:health:result', before);
  });

  it('the health page does not start a check while another check is running', async () => {
    const form = await admin.get('/health');
    await app.redis.set('console:health:running', 'another', 'EX', 60);
    expect((await admin.submit(form, {}, '/health')).status).toBe(303);
    expect(await app.redis.get('console:health:running')).toBe('another');
    expect((await admin.get('/health')).text).not.toContain('Check now');
    await app.redis.del('console:health:running');
  });

  describe('key rotation', () => {
    it('shows the next value once, and records the step without the value', async () => {
      const form = await admin.get('/health/keys');
      const page = await admin.submit(form, { tokenKeys: TOKEN_KEYS }, '/health/keys/token');
      expect(page.status).toBe(200);
      const [, value = ''] = /<code id="keys-value-0">([\w-]{43},[\w-]{43})<\/code>/.exec(page.text) ?? [];
      expect(value.startsWith(`${TOKEN_KEYS},`)).toBe(true);
      expect(page.headers['cache-control']).toBe('no-store');
      expect(wordsOf(page)).toContain('Set TOKEN_KEYS for authorize and token');
      const events = await auditEvents(services.natsUrl, { operator: 'ada', types: ['operator.command'] });
      expect(events.at(-1)).toMatchObject({
        channel: 'page',
        detail: { command: 'keys next', action: 'add' },
      });
      expect(JSON.stringify(events)).not.toContain(value.slice(44));
      expect((await admin.get('/health/keys')).text).not.toContain(TOKEN_KEYS);
    });

    it('refuses a step that would log users out, without showing the submitted value', async () => {
      const form = await admin.get('/health/keys');
      const other = randomBytes(32).toString('base64url');
      const page = await admin.submit(form, { tokenKeys: other }, '/health/keys/token');
      expect(page.status).toBe(409);
      expect(wordsOf(page)).toContain('no running process has this value of TOKEN_KEYS');
      expect(page.text).not.toContain(other);
      const wrong = await admin.submit(form, { idTokenKeys: other }, '/health/keys/id-token');
      expect(wrong.status).toBe(400);
      expect(wrong.text).not.toContain(other);
    });

    it('requires an admin with a login within the last ten minutes', async () => {
      const form = await admin.get('/health/keys');
      for (const role of ['viewer', 'support'] as const) {
        const browser = await app.operator(role);
        expect((await browser.get('/health/keys')).status).toBe(403);
        expect((await browser.submit(form, { tokenKeys: TOKEN_KEYS }, '/health/keys/token')).status).toBe(
          403,
        );
      }
      app.clock.ahead = 11 * 60_000;
      const again = await admin.submit(form, { tokenKeys: TOKEN_KEYS }, '/health/keys/token');
      expect(again.headers['location']).toContain('again=');
    });
  });
});

describe('overview', () => {
  let app: ConsoleApp;
  let viewer: Browser;
  let nats: NatsConnection;

  beforeAll(async () => {
    app = await startConsoleApp();
    viewer = await app.operator('viewer');
    nats = await connect(natsOptions(app.services.natsUrl, 'overview test'));
  });

  afterAll(async () => {
    await nats.close();
    await app.close();
  });

  const refuse = (client_id: string, check: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        storeEvent(
          nats,
          auditEvent('token', { type: 'request.refused', client_id, check, error: 'invalid_grant' }),
        ),
      ),
    );

  describe('the overview', () => {
    it('is the first page', async () => {
      const page = await viewer.get('/');
      expect(page.status).toBe(200);
      expect(page.text).toContain('<a href="/" aria-current="page">');
    });

    it('counts the refusals of all applications by cause, and names the applications with most of them', async () => {
      await storeClient(app, 'busy', { name: 'Busy Rooms' });
      await storeClient(app, 'calm', { name: 'Calm Rooms' });
      await refuse('calm', 'verifier_mismatch', 2);
      await refuse('busy', 'code_expired', 3);
      await refuse('busy', 'verifier_mismatch', 2);
      await refuse('not-registered', 'code_expired', 9);
      const page = await viewer.get('/');
      const words = wordsOf(page);
      expect(words).toMatch(/Busy Rooms busy[^]*Calm Rooms calm/);
      expect(words).not.toContain('not-registered');
      expect(page.text.match(/<a href="\/audit\?check=(\w+)/g)).toEqual([
        '<a href="/audit?check=verifier_mismatch',
        '<a href="/audit?check=code_expired',
      ]);
      expect(words).toContain('7 requests of applications were refused');
    });

    const peaks = (words: string): string[] => words.match(/(?<=peak: )[\d,]+/g) ?? [];

    it('shows counts of live grants and active applications with their time', async () => {
      await until(
        'the first count',
        30_000,
        async () => (await app.sql('SELECT FROM usage_days')).length > 0,
      );
      await app.sql('UPDATE usage_days SET live_grants = 4321, active_clients = 17');
      const words = wordsOf(await viewer.get('/'));
      expect(words).toMatch(/4,?321 live grants/);
      expect(words).toContain('17 applications');
      expect(words).toContain('Counted');
      expect(peaks(words)).toEqual(['4,321', '17']);
      await app.sql('UPDATE usage_days SET live_grants = 0, active_clients = 0');
      const unused = await viewer.get('/');
      expect([peaks(wordsOf(unused)), unused.text]).toEqual([['0', '0'], expect.not.stringContaining('NaN')]);
    });

    it('shows the errors of the last health check and its time', async () => {
      expect(wordsOf(await viewer.get('/'))).toContain('No check ran');
      const finding = {
        check: 'certificate-expired',
        severity: 'error',
        holds: 'x',
        subject: 'x',
        problem: 'x',
        remedy: 'x',
      };
      const diagnosis = { value: { findings: [finding, finding], holding: [], notChecked: [] } };
      const health = {
        at: Date.UTC(2026, 0, 2),
        by: 'vera',
        diagnosis,
        processes: { value: [] },
        keys: { problem: 'x' },
      };
      await app.redis.set('console:health:result', JSON.stringify(health));
      const words = wordsOf(await viewer.get('/'));
      expect(words).toContain('2 errors');
      expect(words).toContain('certificate-expired (2)');
      expect(words).toContain('Jan 2, 2026');
    });

    it('shows running jobs, and no finished jobs', async () => {
      const jobs = new JobStore(app.redis);
      const job = { action: 'disable-users', operator: 'grace', items: ['1'], total: 1 };
      for (const id of ['r'.repeat(22), 'f'.repeat(22)]) {
        await jobs.create({ ...job, id });
        await jobs.claim(id, 'other', 'grace');
      }
      await jobs.stop('f'.repeat(22));
      const { text } = await viewer.get('/');
      expect(text).toContain(`/jobs/${'r'.repeat(22)}`);
      expect(text).not.toContain(`/jobs/${'f'.repeat(22)}`);
    });
  });
});
