import { connect, type NatsConnection } from '@nats-io/transport-node';
import { auditEvent, type AuditRecord, type AuditedApp } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type Browser, wordsOf } from '#test/support/browser.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';
import { storeClient } from '#test/support/stored.js';

let app: ConsoleApp;
let viewer: Browser;
let nats: NatsConnection;

const CLIENT = 'sc_aaaaaaaaaaaaaaaaaaaaaaaa';
const SENT = 'https://rooms.example.com/callback/';

beforeAll(async () => {
  app = await startConsoleApp();
  viewer = await app.operator('viewer');
  nats = await connect(natsOptions(app.services.natsUrl, 'events test'));
  await storeClient(app, CLIENT, { name: 'Room Finder', redirectUri: 'https://rooms.example.com/callback' });
});

afterAll(async () => {
  await nats.close();
  await app.close();
});

const store = (record: Partial<AuditRecord> & Pick<AuditRecord, 'type'>, service: AuditedApp = 'token') =>
  storeEvent(nats, auditEvent(service, { client_id: CLIENT, ...record }));

describe('GET /events', () => {
  it('explains a pasted reference', async () => {
    await store({ type: 'token.issued', user_id: 7 });
    await store({
      type: 'request.refused',
      reference: 'abcdefghijkl',
      user_id: 7,
      status: 400,
      error: 'invalid_grant',
      check: 'redirect_uri_mismatch',
      detail: { sent: SENT, expected: 'https://rooms.example.com/callback' },
    });
    const text = '"error_reference": "abcdefghijkl",';
    const page = await viewer.get(`/events?reference=${encodeURIComponent(text)}`);
    expect(page.status).toBe(200);
    expect(wordsOf(page)).toContain('developer of the application: Keep it in one variable');
    expect(page.text).toContain('<code>redirect_uri_mismatch</code>');
    expect(page.text).toContain('callback<ins>/</ins>');
    expect(wordsOf(page)).toContain('got tokens');
    expect(page.text).toContain(`href="/applications/${CLIENT}"`);
    expect(page.text).toContain('href="/users/7"');
  });

  it('says what the metadata document of the application has that cannot be used', async () => {
    const id = 'https://rooms.example.com/client.json';
    await storeClient(app, id, { name: 'Rooms', redirectUri: 'https://rooms.example.com/callback' });
    await app.sql(
      'UPDATE clients SET document_due_at = now(), document_changed_at = now(), document_problem = $2 WHERE client_id = $1',
      [id, 'left out: redirect_uris “cursor://callback” has the scheme cursor'],
    );
    await store({
      type: 'request.refused',
      reference: 'documentedxx',
      client_id: id,
      error: 'invalid_request',
      check: 'redirect_uri_unregistered',
      detail: { redirect_uri: 'cursor://callback', registered: ['https://rooms.example.com/callback'] },
    });
    const page = await viewer.get('/events?reference=documentedxx');
    expect(wordsOf(page)).toContain('metadata document of the application: left out: redirect_uris');
    expect(wordsOf(await viewer.get(`/applications/${encodeURIComponent(id)}`))).toContain(
      'left out: redirect_uris',
    );
  });

  it('finds an application as the list of applications does, and lets the operator choose among several', async () => {
    const one = await viewer.get('/events?client=+ROOM+fin');
    expect(one.text).toContain(`<a href="/applications/${CLIENT}"`);
    await storeClient(app, 'second_finder', { name: 'Second Finder' });
    const several = await viewer.get('/events?client=finder&period=29d');
    expect(several.text).toContain('href="/events?client=second_finder&amp;period=29d"');
    expect(several.text).toContain(`href="/events?client=${CLIENT}&amp;period=29d"`);
    expect((await viewer.get('/events?client=no-such-thing')).status).toBe(404);
  });

  it('shows the command of a remedy, quoted for a shell', async () => {
    const uri = 'https://rooms.example.com/callback?a=1&b=$(id)';
    await store({
      type: 'request.refused',
      reference: 'unregistered',
      error: 'invalid_request',
      check: 'redirect_uri_unregistered',
      detail: { redirect_uri: uri, registered: ['https://rooms.example.com/callback'] },
    });
    const page = await viewer.get('/events?reference=unregistered');
    expect(wordsOf(page)).toContain(
      `operator client update ${CLIENT} --add-redirect-uri &#39;${uri.replace('&', '&amp;')}&#39;`,
    );
  });

  it('links a remedy to the page that carries it out, for operators who may open the page', async () => {
    const path = `/applications/${CLIENT}/edit`;
    const admin = await app.operator('admin');
    const page = await admin.get('/events?reference=unregistered');
    expect(page.text).toContain(`href="${path}"`);
    expect((await admin.get(path)).status).toBe(200);
    expect((await viewer.get('/events?reference=unregistered')).text).not.toContain(path);
  });

  it('shows the latest uses of a grant after a reuse', async () => {
    const grant_id = 'g'.repeat(43);
    await store({ type: 'token.refreshed', grant_id, reference: 'useduseduse1', address: '192.0.2.1' });
    const check = { error: 'invalid_grant', check: 'refresh_token_reused' };
    await store({
      type: 'token.reuse_detected',
      grant_id,
      reference: 'reusedreused',
      address: '198.51.100.2',
      ...check,
    });
    const page = await viewer.get('/events?reference=reusedreused');
    const uses = page.text.slice(page.text.indexOf('Latest uses of the grant'));
    expect(uses).toMatch(/192\.0\.2\.1[^]*198\.51\.100\.2/);
  });

  it('shows the activity of an application as a chart and as a table', async () => {
    const page = await viewer.get(`/events?client=${CLIENT}&period=23h`);
    expect(page.text).toMatch(/<svg[^>]*role="img"[^>]*aria-labelledby="chart-title chart-text"/);
    expect(page.text).toContain('<rect class="issued"');
    expect(page.text).toContain('<rect class="misused"');
    expect(wordsOf(page)).toContain('3 requests were refused');
    expect(page.text).toContain('href="/events?reference=abcdefghijkl"');
    const [, folded = ''] = /<details>(\s*<summary>Numbers per hour[^]*?)<\/details>/.exec(page.text) ?? [];
    // All events are of the current hour, or of two if the hour has just begun.
    expect([1 + 1, 1 + 2]).toContain(folded.match(/<tr\b/g)?.length);
    expect(page.text).not.toContain('style=');
    const days = await viewer.get(`/events?client=${encodeURIComponent('Room Finder')}&period=29d`);
    expect(wordsOf(days)).toContain('Requests per day');
    expect((await viewer.get(`/applications/${CLIENT}`)).text).toContain(`/events?client=${CLIENT}`);
  });

  it('escapes text from a request', async () => {
    await store({
      type: 'request.refused',
      reference: 'markupmarkup',
      check: 'scope_unregistered',
      error: 'invalid_scope',
      description: '<script>alert(1)</script>',
      detail: { '<b>': '<img src=x>' },
    });
    const page = await viewer.get('/events?reference=markupmarkup');
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/<script|<b>|<img/);
  });

  it.each([
    ['a text that is not a reference', 'reference=nothing', 400],
    ['an unknown reference', 'reference=zzzzzzzzzzzz', 404],
    ['an unknown application', 'client=nobody', 404],
    ['an invalid time', `client=${CLIENT}&since=yesterday`, 400],
  ])('reports %s, and keeps the forms', async (_, query, status) => {
    const page = await viewer.get(`/events?${query}`);
    expect(page.status).toBe(status);
    expect(page.text).toContain('role="alert"');
    expect(page.text).toContain('name="reference"');
  });

  it('states how far back it has searched for an unknown reference, and what else to try', async () => {
    const page = await viewer.get('/events?reference=zzzzzzzzzzzz');
    expect(wordsOf(page)).toMatch(
      /no event since 20\d\d-\d\d-\d\d \d\d:\d\d UTC has the reference &quot;zzzzzzzzzzzz&quot;/,
    );
    expect(wordsOf(page)).toContain('search for it in the log of the service');
    expect(page.text).not.toContain('OAUTH_');
  });
});
