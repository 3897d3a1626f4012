import type { Response } from 'supertest';
import type { User } from '#users/user.js';
import { authorizeAddress, PASSWORD, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import { type Browser, statusOf } from '#test/support/browser.js';

const { app } = useAuthorizeApp();
let user: User;

beforeEach(async () => {
  user = await app.user();
});

describe('the account page', () => {
  it('shows who is logged in, and links to the connected applications', async () => {
    const page = await (await app.loggedIn(user)).get('/auth/');
    expect(page.status).toBe(200);
    expect(page.text).toContain('<title>Your account · Scheduling</title>');
    for (const part of ['Ada Lovelace', user.email, 'href="/auth/apps"']) expect(page.text).toContain(part);
    expect(page.text.match(/<h1>/g)).toHaveLength(1);
    expect(statusOf(page)).toBeUndefined();
  });

  it('shows the connected applications before the settings, and each hint directly below its button', async () => {
    const { text } = await (await app.loggedIn(user)).get('/auth/');
    const parts = ['href="/auth/apps"', 'action="/auth/language"', 'action="/auth/logout-everywhere"'];
    for (const id of ['switch', 'apps', 'everywhere'])
      expect(text).toMatch(
        new RegExp(`aria-describedby="${id}"\\s*>[^<]+</(a|button)>\\s*<p class="quiet" id="${id}">`),
      );
    const places = parts.map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it.each(['/', '/?x=1'])('is the redirect target of %s', async (path) => {
    const answer = await app.browser().get(path);
    expect([answer.status, answer.headers['location']]).toEqual([303, '/auth/']);
  });

  it('redirects a visitor without a session to the login page', async () => {
    for (const path of ['/auth/', '/auth', '/auth/?done'])
      expect((await app.browser().get(path)).headers['location']).toBe('/auth/login');
  });

  it('logs the user out when they choose to use another account', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get('/auth/');
    expect(page.text).toContain('Use another account');
    expect(page.text).toContain('You will be logged out first');
    const before = new Map(browser.cookies);
    const answer = await browser.submit(page, {}, '/auth/logout');
    expect(answer.headers['location']).toBe('/auth/login?done');
    expect(statusOf(await browser.follow(answer))).toBe('You have been logged out.');
    expect(statusOf(await browser.follow(answer))).toBeUndefined();
    for (const [name, value] of before) browser.cookies.set(name, value);
    expect((await browser.get('/auth/')).headers['location']).toBe('/auth/login');
  });
});

describe('the language setting', () => {
  const choose = async (browser: Browser, locale: string) =>
    browser.submit(await browser.get('/auth/'), { locale }, '/auth/language');

  it('applies to later pages, also in another browser, and is confirmed once', async () => {
    const browser = await app.loggedIn(user);
    const answer = await choose(browser, 'de');
    expect(answer.status).toBe(303);
    const page = await browser.follow(answer);
    expect(page.text).toContain('<html lang="de" dir="ltr">');
    expect(page.text).toMatch(/<option value="de" lang="de" selected\s*>/);
    expect(statusOf(page)).toBe('Sprache gespeichert.');
    expect(statusOf(await browser.follow(answer))).toBeUndefined();
    expect((await (await app.loggedIn(user)).get('/auth/apps')).text).toContain('<html lang="de"');
  });

  it('can be reset to the language of the browser', async () => {
    const browser = await app.loggedIn(user);
    await choose(browser, 'ja');
    await choose(browser, 'browser');
    const page = await browser.get('/auth/', { 'Accept-Language': 'fr' });
    expect(page.text).toContain('<html lang="fr"');
    expect(page.text).toMatch(/<option value="browser" selected\s*>/);
  });

  it.each([{ locale: 'xx' }, { locale: 'DE' }, {}, { 'locale[a]': 'de' }])('rejects %j', async (fields) => {
    const browser = await app.loggedIn(user);
    const page = await browser.get('/auth/');
    const answer = await browser.submit(page, fields, '/auth/language');
    expect(answer.status).toBe(400);
    expect((await browser.get('/auth/')).text).toMatch(/<option value="browser" selected\s*>/);
  });
});

describe('logging out everywhere', () => {
  const everywhere = async (browser: Browser) =>
    browser.submit(await browser.get('/auth/'), {}, '/auth/logout-everywhere');

  it('ends every session of the user immediately, but no session of other users', async () => {
    const [here, elsewhere] = [await app.loggedIn(user), await app.loggedIn(user)];
    const otherUser = await app.loggedIn(await app.user());
    const { clientId } = await app.client();
    const consent = authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' });
    const consentPage = await elsewhere.get(consent);
    await everywhere(here);
    for (const path of ['/auth/', '/auth/apps', '/auth/apps/revoke-all', consent])
      expect((await elsewhere.get(path)).headers['location']).toMatch(/^\/auth\/login/);
    // A consent page that was already open cannot be submitted either.
    const again = await app.loggedIn(user);
    const form = await again.get(consent);
    await everywhere(again);
    const answer = await again.submit(form, { decision: 'allow' }, '/auth/oauth2/authorize');
    expect(answer.headers['location'] ?? '').not.toContain('code=');
    const late = await elsewhere.submit(consentPage, { decision: 'allow' }, '/auth/oauth2/authorize');
    expect(late.headers['location'] ?? '').not.toContain('code=');
    expect((await otherUser.get('/auth/')).status).toBe(200);
  });

  it('invalidates forms that are open in another browser', async () => {
    const [here, elsewhere] = [await app.loggedIn(user), await app.loggedIn(user)];
    const { clientId } = await app.client();
    const consent = authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' });
    const consentPage = await elsewhere.get(consent);
    const settings = await elsewhere.get('/auth/');
    await everywhere(here);
    const allowed = await elsewhere.submit(consentPage, { decision: 'allow' }, '/auth/oauth2/authorize');
    expect(allowed.headers['location']).toMatch(/^\/auth\/login/);
    const set = await elsewhere.submit(settings, { locale: 'de' }, '/auth/language');
    expect(set.headers['location'] ?? '').not.toContain('done');
    expect(await app.sql('SELECT locale FROM users WHERE id = $1', [user.id])).toEqual([{ locale: null }]);
  });

  it('is confirmed once on the login page, with the focus on the message', async () => {
    const browser = await app.loggedIn(user);
    const answer = await everywhere(browser);
    expect(answer.headers['location']).toBe('/auth/login?done');
    const page = await browser.follow(answer);
    expect(page.text).toMatch(
      /<p role="status" tabindex="-1" autofocus>You have been logged out everywhere\.<\/p>/,
    );
    expect(page.text.match(/autofocus/g)).toHaveLength(1);
    expect(statusOf(await browser.follow(answer))).toBeUndefined();
    const back = await browser.submit(page, { username: user.email, password: PASSWORD });
    expect(back.headers['location']).toBe('/auth/');
    expect((await browser.get('/auth/')).status).toBe(200);
  });

  it('stores no message for a browser without a session', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get('/auth/');
    await app.redis.flushdb();
    const answer = await browser.submit(page, {}, '/auth/logout');
    expect(answer.headers['location']).toBe('/auth/login?done');
    expect(await app.redis.keys('flash:*')).toEqual([]);
  });

  it('is not confirmed to a visitor who opens a link to the confirmation', async () => {
    expect(statusOf(await app.browser().get('/auth/login?done'))).toBeUndefined();
    expect(
      statusOf(await (await app.loggedIn(user)).get('/auth/?done=logged_out_everywhere')),
    ).toBeUndefined();
  });

  // @reliability race-logout
  it('ends every session even if two browsers submit the form concurrently', async () => {
    const browsers = [await app.loggedIn(user), await app.loggedIn(user)];
    const third = await app.loggedIn(user);
    const pages = await Promise.all(browsers.map((browser) => browser.get('/auth/')));
    const answers = await Promise.all(
      browsers.map((browser, index) =>
        browser.submit(pages[index] as Response, {}, '/auth/logout-everywhere'),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    for (const browser of [...browsers, third])
      expect((await browser.get('/auth/')).headers['location']).toBe('/auth/login');
  });
});
