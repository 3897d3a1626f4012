import { auditEvents } from '#test/support/audit-trail.js';
import { type Browser, statusOf, wordsOf } from '#test/support/browser.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

let app: ConsoleApp;
let admin: Browser;

beforeAll(async () => {
  app = await startConsoleApp();
  admin = await app.operator('admin');
});

beforeEach(() => app.resetRateLimits());

afterAll(() => app.close());

const RECEIVER = 'https://app.example.com/events';

/** Creates an application with a stream, and a finished event. */
async function withStream(name = 'Rooms') {
  const id = `sc_${name.toLowerCase()}${Date.now()}`;
  await app.sql(
    "INSERT INTO clients (client_id, name, type, redirect_uris, scopes) VALUES ($1, $2, 'confidential', $3, '{profile:read}')",
    [id, name, ['https://rooms.example.com/callback']],
  );
  const path = `/applications/${id}/events`;
  const page = await admin.get(path);
  const fields = { eventsUrl: RECEIVER, events: 'tokens-revoked' };
  const saved = await admin.submit(page, fields, `${path}/receiver`);
  expect([saved.status, statusOf(saved)]).toEqual([200, 'The receiver is saved.']);
  const [event] = await app.sql<{ jti: string }>(
    `INSERT INTO events (stream_id, type, txn, outcome, answer, attempts, finished_at)
     SELECT id, 'tokens-revoked', gen_random_uuid(), 'refused', 'status 400, invalid_key', 1, now()
     FROM event_streams WHERE client_id = $1 RETURNING jti`,
    [id],
  );
  return { id, path, jti: event?.jti ?? '' };
}

describe('the events page of an application', () => {
  it('shows the receiver and the answers to the events', async () => {
    const { path } = await withStream();
    const words = wordsOf(await admin.get(path));
    for (const shown of [RECEIVER, 'tokens-revoked', 'refused', 'status 400, invalid_key', 'enabled'])
      expect(words).toContain(shown);
  });

  it('delivers an event again by a form', async () => {
    const { path, jti } = await withStream();
    const page = await admin.submit(await admin.get(path), {}, `${path}/${jti}/redeliver`);
    expect(statusOf(page)).toBe('The event is delivered again.');
    expect(await app.sql('SELECT outcome FROM events WHERE jti = $1', [jti])).toEqual([{ outcome: null }]);
    expect(page.text).not.toContain(`${jti}/redeliver`);
  });

  it('delivers an event of an application by which operators log in again for admins only', async () => {
    const { id, path, jti } = await withStream();
    const support = await app.operator('support');
    const page = await support.get(path);
    await app.sql('UPDATE clients SET redirect_uris = $2 WHERE client_id = $1', [
      id,
      [`${app.configuration.CONSOLE_URL}/login/callback`],
    ]);
    const refused = await support.submit(page, {}, `${path}/${jti}/redeliver`);
    expect(refused.status).toBe(403);
    expect(await app.sql('SELECT outcome FROM events WHERE jti = $1', [jti])).toEqual([
      { outcome: 'refused' },
    ]);
  });

  it('pauses and enables the stream, and records the operator', async () => {
    const { id, path } = await withStream();
    const support = await app.operator('support');
    const paused = await support.submit(await support.get(path), {}, `${path}/pause`);
    expect(wordsOf(paused)).toContain('paused: by the operator');
    const recorded = await auditEvents(app.services.natsUrl, { types: ['client.updated'], clientId: id });
    expect(recorded.at(-1)).toMatchObject({
      operator: 'ada',
      changes: { events_status: { old: 'enabled', new: 'paused' } },
    });
    expect(statusOf(await support.submit(paused, {}, `${path}/enable`))).toBe('The stream is enabled.');
  });

  it('shows a problem at the field, and changes nothing', async () => {
    const { id, path } = await withStream();
    const wrong = { eventsUrl: 'http://app.example.com/', events: 'tokens-revoked' };
    const page = await admin.submit(await admin.get(path), wrong, `${path}/receiver`);
    expect([page.status, wordsOf(page)]).toEqual([400, expect.stringContaining('must be an https URL')]);
    const [stream] = await app.sql('SELECT endpoint_url FROM event_streams WHERE client_id = $1', [id]);
    expect(stream).toEqual({ endpoint_url: RECEIVER });
  });

  it('deletes the stream after a confirmation', async () => {
    const { id, path } = await withStream();
    const page = await admin.submit(await admin.get(`${path}/delete`), {}, `${path}/delete`);
    expect(wordsOf(page)).toContain('The application gets no events.');
    expect(await app.sql('SELECT FROM event_streams WHERE client_id = $1', [id])).toEqual([]);
  });

  it('has no form of the receiver for other roles, and refuses theirs', async () => {
    const { path } = await withStream();
    const support = await app.operator('support');
    expect((await support.get(path)).text).not.toContain('name="eventsUrl"');
    const fields = { eventsUrl: 'https://other.example/', events: 'tokens-revoked' };
    expect((await app.postForm(support, `${path}/receiver`, fields)).status).toBe(403);
  });
});
