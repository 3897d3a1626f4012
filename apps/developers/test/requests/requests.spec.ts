import { type DevelopersApp, REQUEST, startDevelopersApp } from '../support/start-developers-app.js';

let portal: DevelopersApp;
beforeAll(async () => {
  portal = await startDevelopersApp();
});
afterAll(() => portal.close());

describe('a request', () => {
  it('shows an empty form', async () => {
    const { browser } = await portal.developer();
    const page = await browser.get('/requests/new');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Submit for review');
  });

  it('creates an application in testing, and shows its secret once', async () => {
    const { browser } = await portal.developer();
    const created = await portal.postForm(browser, '/requests', { ...REQUEST, action: 'submit' });
    expect([created.status, created.text]).toEqual([
      201,
      expect.stringContaining('Room Finder is ready for testing'),
    ]);
    const [, clientId = ''] = /id="client-id">([^<]+)</.exec(created.text) ?? [];
    const [secret = ''] = /scs_[\w-]+/.exec(created.text) ?? [];
    expect(secret).not.toBe('');
    const page = await browser.get(`/applications/${clientId}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain('In testing');
    expect(page.text).not.toContain(secret);
  });

  it('without a permission is marked there, in the language of the page', async () => {
    const { browser } = await portal.developer();
    const content = { ...REQUEST, 'reason:profile:read': '', action: 'submit' };
    const refused = await portal.postForm(browser, '/requests', content);
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringMatching(/id="scopes-problem"[^>]*>The application needs one or more permissions\.</),
    ]);
  });

  it('has its problems in the language of the user', async () => {
    const { browser } = await portal.developer({ locale: 'de' });
    const refused = await portal.postForm(browser, '/requests', {
      ...REQUEST,
      redirectUris: 'http://rooms.example.com/callback\nhttp://localhost:3005/login/callback',
      'reason:profile:read': '',
      action: 'submit',
    });
    for (const text of ['ist nicht verschlüsselt', 'gehört zu diesem Dienst', 'mindestens eine Berechtigung'])
      expect(refused.text).toContain(text);
  });

  it('shows each problem of a field on a separate line', async () => {
    const { browser } = await portal.developer();
    const redirectUris = 'http://rooms.example.com/callback\nhttps://rooms.example.com/#top';
    const refused = await portal.postForm(browser, '/requests', {
      ...REQUEST,
      redirectUris,
      action: 'submit',
    });
    expect(refused.text).toMatch(
      /id="redirectUris-problem">[^<]*is not encrypted[^<]*<br \/>[^<]*has a fragment/,
    );
  });

  it('can be revised and submitted again for the same application after a rejection', async () => {
    const { browser } = await portal.developer();
    const clientId = await portal.application(browser);
    const [{ id } = { id: '' }] = (await portal.fixture.sql(
      `UPDATE client_requests SET status = 'rejected', decided_at = now() WHERE client_id = $1 RETURNING id`,
      [clientId],
    )) as { id: string }[];
    const again = await portal.postForm(browser, `/requests/${id}/again`);
    expect(again.status).toBe(303);
    const path = again.headers['location'] ?? '';
    expect((await browser.get(path)).text).not.toContain('name="application"');
    const revised = { ...REQUEST, name: 'Room Finder 2', application: '', version: '1', action: 'submit' };
    const sent = await portal.postForm(browser, path, revised);
    expect([sent.status, sent.headers['location']]).toEqual([303, `${path}?note=proposed`]);
    expect((await browser.get(`/applications/${clientId}`)).text).toContain('Room Finder 2');
  });
});
