import { authorizeAddress, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';
import { type Browser, statusOf } from '#test/support/browser.js';
import { allow, confirmationPath, namesIn, revoke, stateOf } from '../support/connected-apps.js';

const { app } = useAuthorizeApp();

let browser: Browser;

beforeEach(async () => {
  browser = await app.loggedIn(await app.user());
});

describe('revoking one application', () => {
  it('shows a confirmation page before it changes anything', async () => {
    const client = await app.client({ name: 'Calendar' });
    const id = await allow(app, browser, client);
    const page = await browser.get(confirmationPath(client));
    expect(page.status).toBe(200);
    expect(page.text).toContain('<h1>Remove access for <bdi>Calendar</bdi>?</h1>');
    expect(await stateOf(app, id)).toEqual([false, 'pending']);
  });

  it('ends all grants of the application and no other grants, and is confirmed once', async () => {
    const [calendar, notes] = [await app.client({ name: 'Calendar' }), await app.client({ name: 'Notes' })];
    const ids = [await allow(app, browser, calendar), await allow(app, browser, calendar)];
    const others = [
      await allow(app, browser, notes),
      await allow(app, await app.loggedIn(await app.user()), calendar),
    ];
    const answer = await revoke(browser, calendar);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe('/auth/apps?done');
    for (const id of ids) expect(await stateOf(app, id)).toEqual([true, 'revoked']);
    for (const id of others) expect(await stateOf(app, id)).toEqual([false, 'pending']);
    const page = await browser.follow(answer);
    expect(namesIn(page)).toEqual(['Notes']);
    expect(page.text).toMatch(
      /<p role="status" tabindex="-1" autofocus><bdi>Calendar<\/bdi> can no longer access your account\.<\/p>/,
    );
    expect(statusOf(await browser.follow(answer))).toBeUndefined();
  });

  it('shows the same message if the form is sent twice', async () => {
    const client = await app.client({ name: 'Calendar' });
    await allow(app, browser, client);
    const form = await browser.get(confirmationPath(client));
    const messages = [];
    for (let sent = 0; sent < 2; sent++)
      messages.push(statusOf(await browser.follow(await browser.submit(form, {}, '/auth/apps/revoke'))));
    expect(messages).toEqual(Array(2).fill('<bdi>Calendar</bdi> can no longer access your account.'));
  });

  it('requires consent for the next request of the application', async () => {
    const client = await app.client();
    await allow(app, browser, client);
    await revoke(browser, client);
    const address = authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's' });
    expect((await browser.get(address)).status).toBe(200);
  });

  it.each(['sc_nobody', '', 'x%00y', '%F0'])(
    'reports that the client_id "%s" has no access',
    async (clientId) => {
      const redirected = await browser.get(`/auth/apps/revoke?client_id=${clientId}`);
      expect(statusOf(await browser.follow(redirected))).toBe(
        'This application has no access to your account.',
      );
      const client = await app.client();
      await allow(app, browser, client);
      const form = await browser.get(confirmationPath(client));
      const sent = await browser.submit(form, { client_id: clientId }, '/auth/apps/revoke');
      expect(statusOf(await browser.follow(sent))).toBe('This application has no access to your account.');
      expect(namesIn(await browser.get('/auth/apps'))).toEqual(['Calendar Connect']);
    },
  );

  it('shows a link to the confirmation page if the cookie was lost', async () => {
    const client = await app.client();
    await allow(app, browser, client);
    const other = app.browser();
    const sent = await other.submit(await browser.get(confirmationPath(client)), {}, '/auth/apps/revoke');
    expect(sent.status).toBe(403);
    expect(sent.text).toContain(`/auth/apps/revoke?client_id=${client.clientId}"`);
  });
});

describe('revoking all applications', () => {
  it('asks for confirmation, and names the applications', async () => {
    const names = ['Calendar', 'Notes'];
    for (const name of names) await allow(app, browser, await app.client({ name }));
    const page = await browser.get('/auth/apps/revoke-all');
    expect(page.text).toContain('2 applications will immediately lose access to your account');
    for (const name of names) expect(page.text).toContain(`<li><bdi>${name}</bdi></li>`);
  });

  it('ends every grant of the user', async () => {
    const ids = [
      await allow(app, browser, await app.client()),
      await allow(app, browser, await app.client()),
    ];
    const form = await browser.get('/auth/apps/revoke-all');
    const answer = await browser.submit(form, {}, '/auth/apps/revoke-all');
    for (const id of ids) expect(await stateOf(app, id)).toEqual([true, 'revoked']);
    const page = await browser.follow(answer);
    expect(statusOf(page)).toBe('No application can access your account any more.');
    expect(page.text).not.toContain('No applications are connected to your account.');
    expect((await browser.get('/auth/apps')).text).toContain(
      'No applications are connected to your account.',
    );
  });

  it('redirects to the list when there is nothing to revoke', async () => {
    expect((await browser.get('/auth/apps/revoke-all')).headers['location']).toBe('/auth/apps');
  });
});

describe('the revocation forms', () => {
  it('are rejected without the session that they were rendered for', async () => {
    const client = await app.client();
    const id = await allow(app, browser, client);
    const [one, all] = [
      await browser.get(confirmationPath(client)),
      await browser.get('/auth/apps/revoke-all'),
    ];
    const attacker = await app.loggedIn(await app.user());
    expect((await attacker.submit(one, {}, '/auth/apps/revoke')).status).toBe(403);
    expect((await attacker.submit(all, {}, '/auth/apps/revoke-all')).status).toBe(403);
    // Form tokens are bound to their purpose.
    const fields = formsOf(one.text)[0]?.fields ?? {};
    expect((await browser.post('/auth/apps/revoke-all', fields)).status).toBe(403);
    await app.redis.flushdb();
    expect((await browser.submit(one, {}, '/auth/apps/revoke')).headers['location']).toBe(
      '/auth/login?to=apps',
    );
    // The flush deleted the grant from Redis.
    expect(await stateOf(app, id)).toEqual([false, null]);
  });
});
