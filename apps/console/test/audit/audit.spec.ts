import { connect, type NatsConnection } from '@nats-io/transport-node';
import { auditEvent, type AuditEvent } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { type Browser, wordsOf } from '#test/support/browser.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';
import { storeClient } from '#test/support/stored.js';

let app: ConsoleApp;
let viewer: Browser;
let nats: NatsConnection;

beforeAll(async () => {
  app = await startConsoleApp();
  viewer = await app.operator('viewer', 'vera');
  nats = await connect(natsOptions(app.services.natsUrl, 'audit page test'));
});

afterAll(async () => {
  await nats.close();
  await app.close();
});

it('the audit page shows the operator, the object and the channel of each change', async () => {
  const admin = await app.operator('admin', 'grace');
  const id = 'sc_aaaaaaaaaaaaaaaaaaaaaaaa';
  await storeClient(app, id, { name: 'Rooms' });
  const disable = `/applications/${id}/disable`;
  await admin.submit(await admin.get(disable), {}, disable);
  const page = await viewer.get(`/audit?client=${id}&operator=grace`);
  expect(page.text).toContain('<bdi>grace</bdi>');
  expect(wordsOf(page)).toMatch(new RegExp(`grace\\s*disabled the application\\s*Rooms\\s*${id}\\s*console`));
  const none = wordsOf(await viewer.get(`/audit?client=${id}&operator=vera`));
  expect(none).toContain(`No event matches application “${id}”, operator “vera”.`);
});

it('the audit page filters by failed check, grant and reference', async () => {
  const grant = 'g'.repeat(43);
  const refusal = { type: 'request.refused', client_id: 'filtered', error: 'invalid_grant' } as const;
  const stored = [
    auditEvent('token', { ...refusal, check: 'code_expired', reference: 'filtered0001' }),
    auditEvent('token', { ...refusal, check: 'verifier_mismatch', grant_id: grant }),
  ];
  for (const event of stored) await storeEvent(nats, event);
  for (const [filter, found] of [
    ['check=code_expired', 0],
    [`grant=${grant}`, 1],
    ['reference=filtered0001', 0],
  ] as const) {
    const { text } = await viewer.get(`/audit?client=filtered&${filter}`);
    expect(stored.map(({ id }) => text.includes(`<code>${id}</code>`))).toEqual([found === 0, found === 1]);
  }
});

it('the audit page shows the difference of each changed field', async () => {
  const changes = {
    name: { old: 'Rooms', new: '<Chambers>' },
    redirect_uris: { old: ['https://a.example', 'https://b.example'], new: ['https://a.example'] },
    email: { omitted: 'personal' },
  } as const;
  const event = { type: 'client.updated', client_id: 'changed', operator: 'grace', changes } as const;
  await storeEvent(nats, auditEvent('operator', event));
  const page = await viewer.get('/audit?client=changed');
  expect(page.text).toMatch(/<dt>name<\/dt>\s*<dd><del>Rooms<\/del><br \/><ins>&lt;Chambers&gt;<\/ins>/);
  expect(page.text).toMatch(/<dt>redirect_uris<\/dt>\s*<dd><del>https:\/\/b.example<\/del><br \/><\/dd>/);
  expect(page.text).toContain('<dt>email</dt>');
});

it('the console records logins, log-outs and refused logins of operators', async () => {
  const browser = await app.operator('viewer', 'linus');
  await browser.submit(await browser.get('/users'), {}, '/logout');
  await app.logIn(app.browser(), { groups: ['cleaners'], preferred_username: 'mallory' });
  const events = await auditEvents(app.services.natsUrl, { operator: 'linus' }, 2);
  expect(events).toMatchObject([
    { type: 'login.succeeded', service: 'operator', channel: 'page', detail: { subject: 'ada' } },
    { type: 'login.ended', channel: 'page', detail: { subject: 'ada' } },
  ]);
  expect(await auditEvents(app.services.natsUrl, { operator: 'mallory' })).toMatchObject([
    {
      type: 'login.refused',
      service: 'operator',
      channel: 'page',
      description: expect.stringContaining('no role') as string,
    },
  ]);
});

it('a request for a page that requires another role is recorded and counted, and its reference explains it', async () => {
  const page = await viewer.get('/applications/new');
  expect(page.status).toBe(403);
  const [refused] = await auditEvents(app.services.natsUrl, {
    operator: 'vera',
    types: ['request.refused'],
  });
  expect(refused).toMatchObject({
    service: 'operator',
    channel: 'page',
    request: { method: 'GET', path: '/applications/new' },
    status: 403,
    error: 'forbidden',
    check: 'console_role_missing',
    detail: { sent: 'viewer', expected: 'admin' },
  });
  expect(page.text).toContain(refused?.reference);
  const explanation = await viewer.get(`/events?reference=${refused?.reference}`);
  expect(wordsOf(explanation)).toContain('The operator lacks a role in the console');
  expect(await app.metrics.metrics()).toContain(
    'oauth_errors_total{http_route="/applications/new",error="forbidden"} 1',
  );
});

it('the audit page shows events whose client_id is not Unicode, which any process may store', async () => {
  const event = auditEvent('token', {
    type: 'request.refused',
    client_id: 'not-unicode-\ud83d',
    status: 401,
  });
  await storeEvent(nats, event);
  const page = await viewer.get('/audit');
  expect(page.status).toBe(200);
  expect(page.text).toContain(event.id);
});

it('the audit page shows events whose type or channel is the name of an object property', async () => {
  const later = { ...auditEvent('token', { type: 'request.refused' }), type: 'constructor' };
  nats.publish('oauth.refusal.token.constructor', JSON.stringify(later));
  const forged = auditEvent('token', { type: 'request.refused', channel: 'toString' as 'api' });
  await storeEvent(nats, forged);
  const page = await viewer.get('/audit');
  expect(page.status).toBe(200);
  for (const { id } of [later, forged]) expect(page.text).toContain(id);
});

it('the audit page shows the problem with a filter and keeps its value', async () => {
  const page = await viewer.get('/audit?user=nobody%40example.com');
  expect(page.status).toBe(400);
  expect(page.text).toContain('role="alert"');
  expect(page.text).toContain('value="nobody@example.com"');
});

describe('the audit page with many events', () => {
  const stored: AuditEvent[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 120; n++) {
      const event = auditEvent('token', {
        type: 'token.issued',
        client_id: 'many',
        user_id: n,
        detail: { pkce: true },
      });
      await storeEvent(nats, event);
      stored.push(event);
    }
  });

  it('links from page to page, and back, with the same filters', async () => {
    const read = async (path: string) => {
      const { text } = await viewer.get(path);
      const ids = [...text.matchAll(/<code>([\w-]+-[0-9a-z]+)<\/code><\/dd>/g)].map(([, id = '']) => id);
      const links = [...text.matchAll(/href="(\/audit\?[^"]*cursor=([ab])[^"]*)"/g)];
      const { a: next, b: previous } = Object.fromEntries(
        links.map(([, href = '', direction]) => [direction, href.replaceAll('&amp;', '&')]),
      );
      return { ids, next, previous };
    };
    const pages = [await read('/audit?client=many&type=token.issued')];
    for (let path = pages[0]?.next; path !== undefined; path = pages.at(-1)?.next)
      pages.push(await read(path));
    expect(pages.flatMap(({ ids }) => ids)).toEqual(stored.map(({ id }) => id).toReversed());
    expect(pages).toHaveLength(3);
    const back = [await read(pages[2]?.previous ?? '')];
    back.push(await read(back[0]?.previous ?? ''));
    expect(back.map(({ ids }) => ids)).toEqual([pages[1]?.ids, pages[0]?.ids]);
    expect(back[1]?.previous).toBeUndefined();
  });

  it('exports all selected events as one JSON object per line', async () => {
    const response = await viewer.get('/audit/events.jsonl?client=many');
    expect(response.headers['content-type']).toContain('application/x-ndjson');
    expect(response.headers['content-disposition']).toContain('attachment');
    expect(response.headers['cache-control']).toBe('no-store');
    const body: unknown = response.body;
    const text = Buffer.isBuffer(body) ? body.toString() : response.text;
    const lines = text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as AuditEvent)).toEqual(stored);
    expect((await app.browser().get('/audit/events.jsonl')).headers['location']).toContain('/login?');
  });
});

describe('the audit page without JetStream', () => {
  let nats: RestartableNats;
  let other: ConsoleApp;

  beforeAll(async () => {
    const account = 'accounts { PLAIN { users: [ { user: plain, password: plain } ] } }';
    nats = await RestartableNats.start(`${account}\nno_auth_user: plain`);
    other = await startConsoleApp({ AUDIT_NATS_URL: nats.url });
  });

  afterAll(async () => {
    await other.close();
    await nats.stop();
  });

  it('sends an error page instead of a download', async () => {
    const operator = await other.operator('viewer');
    const page = await operator.get('/audit/events.jsonl');
    expect(page.status).toBe(503);
    expect(page.headers['content-disposition']).toBeUndefined();
    expect(wordsOf(page)).toContain('NATS (AUDIT_NATS_URL) has no JetStream');
  });

  it('is unavailable and names the remedy', async () => {
    const operator = await other.operator('viewer');
    for (const path of ['/audit', '/events?reference=abcdefghijkl']) {
      const page = await operator.get(path);
      expect(page.status).toBe(503);
      expect(wordsOf(page)).toContain('NATS (AUDIT_NATS_URL) has no JetStream');
      expect(wordsOf(page)).toContain('turn it on, and run migrate');
    }
    await nats.kill();
    const page = await operator.get('/audit');
    expect([page.status, wordsOf(page)]).toEqual([
      503,
      expect.stringContaining('NATS (AUDIT_NATS_URL) does not answer') as string,
    ]);
  });
});

it('the audit page is unavailable if JetStream stops answering at any point of a search', async () => {
  // The points wait together, because each timeout takes five seconds or more.
  const points = ['$JS.API.STREAM.INFO', '$JS.API.CONSUMER.CREATE', '$JS.API.CONSUMER.MSG.NEXT'];
  const outcomes = points.map(async (unanswered) => {
    const proxy = await FaultProxy.start(app.services.natsUrl);
    const other = await startConsoleApp({ AUDIT_NATS_URL: proxy.url }, app.services);
    const operator = await other.operator('viewer');
    expect((await operator.get('/audit')).status).toBe(200);
    proxy.onData = (bytes) => (bytes.includes(unanswered) ? Buffer.alloc(0) : undefined);
    const isExported = unanswered !== points[0];
    const [page, file] = await Promise.all([
      operator.get('/audit'),
      isExported && operator.get('/audit/events.jsonl'),
    ]);
    await other.close();
    await proxy.close();
    expect([unanswered, page.status, wordsOf(page), file && file.status]).toEqual([
      unanswered,
      503,
      expect.stringContaining('NATS (AUDIT_NATS_URL) does not answer') as string,
      isExported && 503,
    ]);
  });
  await Promise.all(outcomes);
}, 120_000);
