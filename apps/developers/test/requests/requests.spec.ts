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
});
