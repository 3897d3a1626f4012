import type { Response } from 'supertest';
import { formsOf } from '#local/demo/html-form.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { type Browser, wordsOf } from '#test/support/browser.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';
import { HOSTILE_NAME, stateOf, storeRequest, type StoredRequest } from '../support/stored-request.js';

let app: ConsoleApp;
let admin: Browser;
let support: Browser;
let request: StoredRequest;

beforeAll(async () => {
  app = await startConsoleApp();
  [admin, support] = [await app.operator('admin'), await app.operator('support', 'grace')];
});

beforeEach(async () => {
  await app.resetRateLimits();
  await app.sql('DELETE FROM client_requests');
  request = await storeRequest(app);
});

afterAll(() => app.close());

const path = (decision = '') => `/requests/${request.id}${decision && `/${decision}`}`;

function send(browser: Browser, page: Response, text: string): Promise<Response> {
  const form = formsOf(page.text).find(({ action }) => action.startsWith('/requests/'));
  if (!form) throw new Error(`no form in a page of status ${page.status}`);
  return browser.post(form.action, { ...form.hidden, text });
}

const decide = async (browser: Browser, decision: string, text = ''): Promise<Response> =>
  send(browser, await browser.get(path(decision)), text);

describe('the queue', () => {
  it('lists open requests with their age, and the overview has their number', async () => {
    await storeRequest(app, { name: 'Rooms' });
    const page = await admin.get('/requests');
    for (const text of ['2 requests are open. The oldest one was submitted 3 days ago.', 'Notes', 'Rooms'])
      expect(wordsOf(page)).toContain(text);
    expect(wordsOf(await admin.get('/'))).toContain('2 requests are open.');
    await decide(admin, 'reject', 'No.');
    expect(wordsOf(await admin.get('/requests'))).toContain('One request is open.');
  });
});

describe('a request', () => {
  it('is shown with the findings, reasons, owners and the consent page in each language', async () => {
    const page = await support.get(path());
    const words = wordsOf(page);
    for (const text of [
      'elsewhere.example, which does not belong to the website notes.example',
      'no privacy policy',
      'Keeps &lt;b&gt;notes&lt;/b&gt;',
      'Shows the name',
      '@example.com',
    ])
      expect(page.text.includes(text) || words.includes(text)).toBe(true);
    expect(page.text).toContain(`/applications/${request.clientId}/consent?language=ar`);
    expect(words).toContain('stagetestinglive');
  });

  // The owner chose the names and texts.
  it('is shown as text, and nothing is loaded from its addresses', async () => {
    request = await storeRequest(app, { name: HOSTILE_NAME });
    for (const address of [path(), path('approve'), '/requests', `/applications/${request.clientId}`]) {
      const { text, headers } = await admin.get(address);
      expect(text).toContain('=&lt;img src=x');
      expect(text).not.toContain('<img src=x');
      expect(text).not.toMatch(
        /(?:src|href|srcset)="https?:\/\/(?:notes|elsewhere)\.example[^"]*"[^>]*>\s*<(?:img|link|script|iframe)/,
      );
      expect(text).not.toMatch(/<(?:img|link|script|iframe)[^>]*(?:notes|elsewhere)\.example/);
      expect(headers['content-security-policy']).not.toContain('notes.example');
    }
  });
});

describe('an approval', () => {
  it('makes the application live, and is recorded', async () => {
    const page = await decide(admin, 'approve', 'Welcome');
    expect([page.status, wordsOf(page)]).toEqual([200, expect.stringContaining('The request is approved.')]);
    expect(wordsOf(page)).toContain('Welcome');
    expect(await stateOf(app, request)).toEqual({ status: 'approved', stage: 'live', disabled: false });
    const events = await auditEvents(
      app.services.natsUrl,
      { clientId: request.clientId, types: ['client_request.approved'] },
      1,
    );
    expect(events).toMatchObject([{ operator: 'ada', client_id: request.clientId }]);
  });

  it('needs the role admin and a recent login', async () => {
    expect((await support.get(path('approve'))).status).toBe(403);
    app.clock.ahead = 11 * 60_000;
    const { status, headers } = await admin.get(path('approve'));
    app.clock.ahead = 0;
    expect([status, headers['location']]).toEqual([303, expect.stringMatching(/^\/login\?/)]);
    expect((await stateOf(app, request))?.stage).toBe('testing');
  });

  it('does not count for a request that has changed since it was read', async () => {
    const open = await admin.get(path('approve'));
    await app.sql(
      `UPDATE client_requests SET content = content || '{"purpose": "Sells notes"}' WHERE id = $1`,
      [request.id],
    );
    const page = await send(admin, open, '');
    expect([page.status, wordsOf(page)]).toEqual([409, expect.stringContaining('Sells notes')]);
    expect((await stateOf(app, request))?.stage).toBe('testing');
  });

  it('does not count for a request that has changed between its page and the page of the decision', async () => {
    const [, link = ''] = /href="([^"]*\/approve[^"]*)"/.exec((await admin.get(path())).text) ?? [];
    await app.sql(
      `UPDATE client_requests SET content = content || '{"purpose": "Rents notes"}' WHERE id = $1`,
      [request.id],
    );
    const page = await send(admin, await admin.get(link), '');
    expect([page.status, wordsOf(page)]).toEqual([409, expect.stringContaining('Rents notes')]);
    expect((await stateOf(app, request))?.stage).toBe('testing');
  });

  it('and a rejection at the same time: only one of them is executed', async () => {
    const [approve, reject] = [await admin.get(path('approve')), await admin.get(path('reject'))];
    const answers = await Promise.all([send(admin, approve, 'Yes'), send(admin, reject, 'No, sorry')]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    const messages = await app.sql('SELECT text FROM client_request_messages WHERE request_id = $1', [
      request.id,
    ]);
    expect(messages).toHaveLength(1);
  });
});

describe('a question and a rejection', () => {
  it('are messages to the owner, and support may only ask', async () => {
    const asked = await decide(support, 'ask', 'Who runs\nelsewhere.example?');
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('Who runs')]);
    expect((await stateOf(app, request))?.status).toBe('question');
    expect((await support.get(path('reject'))).status).toBe(403);
    await decide(admin, 'reject', 'The host is not yours.');
    expect(await stateOf(app, request)).toEqual({ status: 'rejected', stage: 'testing', disabled: true });
  });

  it('need a text, and the form keeps what was entered', async () => {
    const page = await decide(support, 'ask', '123');
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('123</textarea>')]);
    expect((await decide(admin, 'reject')).status).toBe(400);
    expect((await stateOf(app, request))?.status).toBe('submitted');
  });
});

describe('a request with a scope that has left the scope file', () => {
  const OLD = 'notes:share';

  it.each([
    ['a new application', 'registration', 'testing', { scopes: ['profile:read', OLD] }],
    ['a live application', 'change', 'live', { addScopes: [OLD], purpose: 'Shares notes' }],
  ])('of %s is shown, and can be rejected but not approved', async (_, kind, stage, content) => {
    await app.sql('UPDATE clients SET stage = $2 WHERE client_id = $1', [request.clientId, stage]);
    await app.sql(
      `UPDATE client_requests SET kind = $2, content = CASE $2 WHEN 'change' THEN $3 ELSE content || $3 END WHERE id = $1`,
      [request.id, kind, { reasons: { [OLD]: 'Shares notes' }, ...content }],
    );
    const page = await admin.get(path());
    expect([page.status, wordsOf(page)]).toEqual([200, expect.stringContaining(`${OLD}no longer offered`)]);
    expect(wordsOf(page)).toContain(`The scope ${OLD} is no longer offered`);
    const approved = await decide(admin, 'approve');
    expect(approved.status).toBe(409);
    expect(approved.text).toContain(`because the scope ${OLD} is no longer offered`);
    expect((await stateOf(app, request))?.status).toBe('submitted');
    expect((await decide(admin, 'reject', 'Not offered.')).status).toBe(200);
    expect((await stateOf(app, request))?.status).toBe('rejected');
  });
});

describe('the change of a live application', () => {
  const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

  it('is shown as a difference, with the proposed logo, and changes nothing before the approval', async () => {
    const { clientId } = request;
    await app.sql(`UPDATE clients SET stage = 'live' WHERE client_id = $1`, [clientId]);
    const content = { name: 'Notes, and more', logo: PIXEL, purpose: 'A new name', reasons: {} };
    await app.sql(`UPDATE client_requests SET kind = 'change', content = $2 WHERE id = $1`, [
      request.id,
      content,
    ]);
    const page = await admin.get(path());
    for (const text of ['Change of a live application', 'Notes, and more'])
      expect(wordsOf(page)).toContain(text);
    expect(page.text).toContain(`src="${path('logo')}"`);
    const logo = await admin.get(path('logo'));
    expect([logo.headers['content-type'], logo.headers['content-security-policy']]).toEqual([
      'image/png',
      "default-src 'none'; sandbox",
    ]);
    const name = async () =>
      (await app.sql<{ name: string }>('SELECT name FROM clients WHERE client_id = $1', [clientId]))[0]?.name;
    expect(await name()).toBe('Notes');
    await decide(admin, 'approve');
    expect(await name()).toBe('Notes, and more');
  });

  it('is shown with the additions that are not registered yet, and as it was requested after the approval', async () => {
    const { clientId } = request;
    const [added, other] = ['https://notes.example/added', 'https://notes.example/other'];
    await app.sql(
      `UPDATE clients SET stage = 'live', redirect_uris = redirect_uris || $2::text[] WHERE client_id = $1`,
      [clientId, [added]],
    );
    const content = { addRedirectUris: [added, other], purpose: 'A new host', reasons: {} };
    await app.sql(`UPDATE client_requests SET kind = 'change', content = $2 WHERE id = $1`, [
      request.id,
      content,
    ]);
    expect((await admin.get(path())).status).toBe(200);
    const approved = await decide(admin, 'approve');
    expect([approved.status, wordsOf(approved)]).toEqual([
      200,
      expect.stringContaining(`What was requested FieldValue addRedirectUris${added}${other}`),
    ]);
    expect(
      await app.sql('SELECT redirect_uris AS uris FROM clients WHERE client_id = $1', [clientId]),
    ).toEqual([{ uris: expect.arrayContaining([added, other]) }]);
  });
});
