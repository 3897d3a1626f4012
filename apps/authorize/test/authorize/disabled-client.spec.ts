import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import { authorizeAddress, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';
import { allow, namesIn, revoke } from '../support/connected-apps.js';
import { storePushed } from '../support/use-pushed-requests.js';
import { disableClients } from '#test/support/stored.js';

const { app } = useAuthorizeApp();

let user: User;
let browser: Browser;
let client: Client;

beforeEach(async () => {
  user = await app.user();
  browser = await app.loggedIn(user);
  client = await app.client({ name: 'Notes' });
});

const disable = ({ clientId }: Client) => disableClients(app, clientId);

const enable = ({ clientId }: Client) =>
  app.sql('UPDATE clients SET disabled_at = NULL WHERE client_id = $1', [clientId]);

const address = (more: Record<string, string> = {}) =>
  authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's', ...more });

const grants = () => app.sql('SELECT id FROM grants WHERE client_id = $1', [client.clientId]);

// @rfc 6749 4.1.2.1
describe('an authorization request of a disabled application', () => {
  it.each([
    ['valid', {}],
    ['with an error that would be redirected', { response_type: 'token' }],
    ['with prompt=none', { prompt: 'none' }],
  ])('results in an error page without a redirect: %s', async (_, more) => {
    await disable(client);
    const page = await browser.get(address(more));
    expect(page.status).toBe(403);
    expect(page.headers['location']).toBeUndefined();
    expect(page.text).toContain('This application is disabled');
    expect(page.text).toContain('href="/auth/apps"');
    expect(page.text).not.toContain('app.example.com');
  });

  it('results in the error page even if it was pushed before the application was disabled', async () => {
    const requestUri = await storePushed(app.redis, client.clientId, {
      redirect_uri: REDIRECT_URI,
      state: 's',
    });
    await disable(client);
    const page = await browser.get(authorizeAddress({ client_id: client.clientId, request_uri: requestUri }));
    expect([page.status, page.headers['location']]).toEqual([403, undefined]);
  });

  it('results in the error page before the login if the user has no session', async () => {
    await disable(client);
    const visitor = app.browser();
    expect((await visitor.get(address())).status).toBe(403);
    const login = await visitor.get(address().replace('/auth/oauth2/authorize', '/auth/login'));
    expect(login.text).not.toContain('Notes');
  });

  it('cannot be allowed on a page that was already open or by earlier consent', async () => {
    const open = await browser.get(address());
    await disable(client);
    for (const decision of ['allow', 'deny']) {
      const answer = await browser.submit(open, { decision }, '/auth/oauth2/authorize');
      expect([answer.status, answer.headers['location']]).toEqual([403, undefined]);
    }
    expect(await grants()).toEqual([]);
    await enable(client);
    await allow(app, browser, client);
    await disable(client);
    expect((await browser.get(address())).status).toBe(403);
    expect(await grants()).toHaveLength(1);
  });
});

describe('the list of connected applications', () => {
  it('marks a disabled application, whose access can still be revoked', async () => {
    const id = await allow(app, browser, client);
    await allow(app, browser, await app.client({ name: 'Calendar' }));
    await disable(client);
    const page = await browser.get('/auth/apps');
    expect(namesIn(page)).toEqual(['Calendar', 'Notes']);
    const [calendar = '', notes = ''] = page.text.split('<bdi>Notes</bdi>');
    expect(calendar).not.toContain('has been disabled');
    expect(notes).toContain('This application has been disabled and cannot access your account.');
    expect((await revoke(browser, client)).status).toBe(303);
    const rows = await app.sql('SELECT revoked_at IS NOT NULL AS revoked FROM grants WHERE id = $1', [id]);
    expect(rows).toEqual([{ revoked: true }]);
    expect(namesIn(await browser.get('/auth/apps'))).toEqual(['Calendar']);
  });
});
