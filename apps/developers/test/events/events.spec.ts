import { auditEvents } from '#test/support/audit-trail.js';
import type { Browser } from '#test/support/browser.js';
import { type DevelopersApp, startDevelopersApp } from '../support/start-developers-app.js';

const JTI = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

let portal: DevelopersApp;
let browser: Browser;
let id: string;
let stream: string;

const sql = <Row>(text: string, values: readonly unknown[] = []) =>
  portal.fixture.sql(text, [...values]) as Promise<Row[]>;

beforeAll(async () => {
  portal = await startDevelopersApp();
});
beforeEach(async () => {
  ({ browser } = await portal.developer());
  id = await portal.application(browser);
  const [row] = await sql<{ id: string }>(
    `INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested, failing_since, due_at)
     VALUES ($1, 'push', 'https://rooms.example.com/events', '{tokens-revoked}', now(), now() + interval '1 hour') RETURNING id`,
    [id],
  );
  stream = row?.id ?? '';
});
afterAll(() => portal.close());

/** Stores finished events, which name a user. */
const store = (count: number) =>
  sql<{ jti: string }>(
    `INSERT INTO events (stream_id, type, user_id, details, txn, answer, outcome, finished_at)
     SELECT $1, 'tokens-revoked', 77, '{"grant_id": "GRANT"}', gen_random_uuid(), 'status 500', 'refused', now()
     FROM generate_series(1, $2) RETURNING jti`,
    [stream, count],
  );

/** Changes of events in the history of the application. */
const history = () =>
  sql(
    `SELECT action, changes ->> 'jti' AS jti FROM client_history WHERE client_id = $1 AND action LIKE 'event%'`,
    [id],
  );

const page = async (query = '') => (await browser.get(`/applications/${id}/events${query}`)).text;

describe('the events of an application', () => {
  it('have their receiver, state and answer, and no user', async () => {
    await store(1);
    const text = await page();
    for (const shown of [
      'https://rooms.example.com/events',
      'Failing since',
      'Next attempt',
      'status 500',
      'Refused by the receiver',
    ])
      expect(text).toContain(shown);
    expect(text).not.toMatch(/>77<|GRANT/);
    expect(text).toContain(`href="/applications/${id}/integrate"`);
  });

  it('are shown in pages, newest first', async () => {
    await store(30);
    const first = await page();
    const [, before = ''] = /\?before=(\d+)/.exec(first) ?? [];
    const all = [first, await page(`?before=${before}`)].join('');
    const shown = [...all.matchAll(new RegExp(`/events/(${JTI})/redeliver`, 'g'))].map(([, jti]) => jti);
    expect([shown.length, new Set(shown).size]).toEqual([30, 30]);
  });

  it('are sent again when the owner asks, and that is recorded once', async () => {
    const [event] = await store(1);
    const sent = await portal.postForm(browser, `/applications/${id}/events/${event?.jti}/redeliver`);
    expect(sent.headers['location']).toBe(`/applications/${id}/events?note=redelivered`);
    expect(await sql('SELECT outcome FROM events WHERE jti = $1', [event?.jti])).toEqual([{ outcome: null }]);
    const again = await portal.postForm(browser, `/applications/${id}/events/${event?.jti}/redeliver`);
    expect(again.status).toBe(404);
    expect(await history()).toEqual([{ action: 'event_redelivered', jti: event?.jti }]);
    const shown = await browser.get(`/applications/${id}/history`);
    expect(shown.text).toContain(`The event is sent again. <code>tokens-revoked ${event?.jti}</code>`);
  });

  it('of another application cannot be sent again', async () => {
    const [event] = await store(1);
    const stranger = await portal.developer();
    const own = await portal.application(stranger.browser);
    for (const client of [own, id]) {
      const path = `/applications/${client}/events/${event?.jti}/redeliver`;
      expect((await portal.postForm(stranger.browser, path)).status).toBe(404);
    }
    const [row] = await sql<{ outcome: string }>('SELECT outcome FROM events WHERE jti = $1', [event?.jti]);
    expect(row?.outcome).toBe('refused');
  });
});

describe('a paused stream', () => {
  const pause = (reason: string) =>
    sql(`UPDATE event_streams SET status = 'paused', status_reason = $2 WHERE id = $1`, [stream, reason]);
  const enable = () => portal.postForm(browser, `/applications/${id}/events/enable`);
  const status = () => sql('SELECT status FROM event_streams WHERE id = $1', [stream]);

  it('is enabled by the owner, and its receiver learns of it', async () => {
    await pause('the receiver has failed for a day');
    expect(await page()).toContain('End the pause');
    await enable();
    expect(await status()).toEqual([{ status: 'enabled' }]);
    expect(await sql('SELECT type FROM events WHERE stream_id = $1', [stream])).toEqual([
      { type: 'stream-updated' },
    ]);
    expect(await history()).toEqual([{ action: 'events_enabled', jti: null }]);
    expect((await browser.get(`/applications/${id}/history`)).text).toContain('The pause has ended.');
  });

  it('stays paused if an operator paused it, and no change is recorded', async () => {
    await pause('by the operator');
    expect(await page()).not.toContain('End the pause');
    await enable();
    expect(await status()).toEqual([{ status: 'paused' }]);
    const [event] = await store(1);
    await portal.postForm(browser, `/applications/${id}/events/${event?.jti}/redeliver`);
    const [first] = await auditEvents(portal.services.natsUrl, { types: ['client.updated'], clientId: id });
    expect(first).toMatchObject({ detail: { redelivered: event?.jti } });
    expect(await history()).toEqual([{ action: 'event_redelivered', jti: event?.jti }]);
  });
});

describe('the events of an application without a receiver', () => {
  beforeEach(() => sql('DELETE FROM event_streams WHERE id = $1', [stream]));

  it.each(['events', 'integrate'])(
    'say on the page /%s what they are for, and how to set a receiver',
    async (path) => {
      const { text } = await browser.get(`/applications/${id}/${path}`);
      for (const shown of [
        'Events tell the application immediately when a user removes its access',
        `${portal.configuration.BASE_URL}/.well-known/ssf-configuration`,
        `${portal.configuration.BASE_URL}/api/auth/oauth/events/stream`,
        `operator client update ${id} --events-url https://rooms.example.com/events`,
        `operator client update ${id} --backchannel-logout-uri https://rooms.example.com/logout`,
      ])
        expect(text).toContain(shown);
    },
  );

  it('name only the operator to a public application, which cannot create a stream', async () => {
    const spa = await portal.application(browser, { application: 'browser' });
    const { text } = await browser.get(`/applications/${spa}/events`);
    expect(text).toContain(`operator client update ${spa} --events-url`);
    expect(text).not.toContain('ssf.manage');
  });
});
