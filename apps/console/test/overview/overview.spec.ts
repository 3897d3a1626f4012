import { connect, type NatsConnection } from '@nats-io/transport-node';
import { auditEvent } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type Browser, wordsOf } from '#test/support/browser.js';
import { storeClient } from '#test/support/stored-client.js';
import { until } from '#test/support/until.js';
import { JobStore } from '../../src/jobs/job.store.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

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
    await until('the first count', 30_000, async () => (await app.sql('SELECT FROM usage_days')).length > 0);
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
