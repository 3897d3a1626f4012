import { createHash } from 'node:crypto';
import { LOCALES } from '#oauth/locale.js';
import { SCOPES } from '#test/support/app-settings.js';
import type { User } from '#users/user.js';
import { PASSWORD, useAuthorizeApp } from '../support/start-authorize-app.js';
import { type Browser, statusOf } from '#test/support/browser.js';
import { allow, namesIn } from '../support/connected-apps.js';

const { app } = useAuthorizeApp();

let user: User;
let browser: Browser;

beforeEach(async () => {
  user = await app.user();
  browser = await app.loggedIn(user);
});

describe('the list of connected applications', () => {
  it('shows a message when it is empty', async () => {
    const page = await browser.get('/auth/apps');
    expect(page.status).toBe(200);
    expect(page.text).toContain('No applications are connected to your account.');
    expect(page.text).not.toContain('revoke-all');
  });

  it('shows the permissions, the date of consent and the last use of each application', async () => {
    const calendar = await app.client({ name: 'Calendar <b>Connect</b>', scopes: ['bookings:read'] });
    const notes = await app.client({ name: 'Notes' });
    const used = await allow(app, browser, calendar);
    await allow(app, browser, notes);
    await app.sql(
      "UPDATE grants SET last_used_on = '2026-02-03', created_at = '2026-01-31T23:30:00Z' WHERE id = $1",
      [used],
    );
    await app.sql("UPDATE users SET time_zone = 'Europe/Berlin' WHERE id = $1", [user.id]);
    const page = await browser.get('/auth/apps');
    expect(namesIn(page)).toEqual(['Calendar &lt;b&gt;Connect&lt;/b&gt;', 'Notes']);
    const text = page.text.replaceAll(/<\/?bdi>/g, '');
    expect(text).toContain('View your bookings: times, attendees and subjects');
    expect(text).toContain('Access granted on February 1, 2026.');
    expect(text).toContain('Last used on February 3, 2026.');
    expect(text).toContain('Not used yet.');
    const british = (await browser.get('/auth/apps', { 'Accept-Language': 'en-GB,en;q=0.8' })).text;
    expect(british.replaceAll(/<\/?bdi>/g, '')).toContain('Access granted on 1 February 2026.');
    expect(text).toContain('aria-label="Remove access: Notes"');
  });

  it('shows the logo from this site, or the first letter of the name', async () => {
    const { clientId } = await app.client({ name: 'with a picture' });
    const image = Buffer.from('a picture');
    const digest = createHash('sha256').update(image).digest('hex');
    await app.sql(
      "INSERT INTO client_logos (client_id, digest, media_type, image) VALUES ($1, $2, 'image/png', $3)",
      [clientId, digest, image],
    );
    await allow(app, browser, { clientId });
    await allow(app, browser, await app.client({ name: 'ångström' }));
    const { text } = await browser.get('/auth/apps');
    expect(text).toContain(`<img class="face" src="/auth/logos/${digest}" alt=""`);
    expect(text).toContain('<span class="face" aria-hidden="true">Å</span>');
  });

  it('marks first-party applications', async () => {
    const { clientId } = await app.client({ name: 'Ours', scopes: ['profile:read'] });
    await allow(app, browser, { clientId });
    expect((await browser.get('/auth/apps')).text).not.toContain('Made by');
    await app.sql('UPDATE clients SET first_party = true WHERE client_id = $1', [clientId]);
    const { text } = await browser.get('/auth/apps');
    expect(text).toMatch(/Official (<bdi>)?Scheduling/);
    expect(text).toContain('Connected since');
    expect(text).not.toMatch(/allowed/i);
  });

  it('does not show applications of other users', async () => {
    await allow(app, browser, await app.client({ name: 'Mine' }));
    const other = await app.loggedIn(await app.user());
    expect(namesIn(await other.get('/auth/apps'))).toEqual([]);
  });

  it('has a page to remove all access, which uses the singular for one application and the plural for several', async () => {
    const askIn = async (locale: string) =>
      (await browser.get(`/auth/apps/revoke-all?ui_locales=${locale}`)).text.replaceAll(/<\/?bdi>/g, '');
    await allow(app, browser, await app.client({ name: 'One' }));
    const singular = await Promise.all(LOCALES.map(askIn));
    expect(singular[0]).toContain('<h1>Remove access?</h1>');
    expect(singular[0]).toContain('1 application will immediately lose access');
    expect(singular[0]).toContain('It may keep data that it has already received.');
    await allow(app, browser, await app.client({ name: 'Two' }));
    const plural = await Promise.all(LOCALES.map(askIn));
    expect(plural[0]).toContain('They may keep data that they have already received.');
    const headings = (texts: string[]) => texts.map((page) => /<h1>(.*?)<\/h1>/.exec(page)?.[1]);
    const others = headings(plural);
    for (const [index, heading] of headings(singular).entries()) expect(heading).not.toBe(others[index]);
  });

  it('redirects a visitor without a session to the login page, and opens after the login', async () => {
    const visitor = app.browser();
    const login = await visitor.get('/auth/apps');
    expect(login.headers['location']).toBe('/auth/login?to=apps');
    const answer = await visitor.submit(await visitor.follow(login), {
      username: user.email,
      password: PASSWORD,
    });
    expect(answer.headers['location']).toBe('/auth/apps');
  });

  it.each([
    'to=https://evil.example',
    'to=//evil.example',
    'to=/auth/apps/revoke-all',
    'to=constructor',
    'to=apps/',
    'to=__proto__',
  ])('does not open after a login with another redirect target: %s', async (query) => {
    const visitor = app.browser();
    const login = await visitor.get(`/auth/login?${query}`);
    const answer = await visitor.submit(login, { username: user.email, password: PASSWORD });
    expect(answer.headers['location']).toBe('/auth/');
  });

  it('is split into pages under 30 KB for a user with many applications', async () => {
    const many = await app.loggedIn(await app.user());
    const names = Array.from(
      { length: 31 },
      (_, at) => `App ${String(at).padStart(2, '0')} ${'n'.repeat(90)}`,
    );
    const scopes = SCOPES.names;
    for (const name of names) await allow(app, many, await app.client({ name, scopes }));
    const pageOf = (page: string) => many.get(`/auth/apps?page=${page}&ui_locales=ar`);
    const [first, second, third] = await Promise.all(['1', '2', '3'].map(pageOf));
    expect([first, second, third].flatMap((page) => (page ? namesIn(page) : []))).toEqual(names);
    for (const page of [first, second, third])
      expect(Buffer.byteLength(page?.text ?? '')).toBeLessThan(30_000);
    expect(first?.text.match(/\?page=\d/g)).toEqual(['?page=2']);
    expect(second?.text.match(/\?page=\d/g)).toEqual(['?page=1', '?page=3']);
    for (const [requested, listed] of [
      ['0', first],
      ['-1', first],
      ['x', first],
      ['4', third],
      ['1e99', third],
    ] as const)
      expect(namesIn(await pageOf(requested))).toEqual(listed && namesIn(listed));
  });

  it('does not show text from the query of a link', async () => {
    for (const path of [
      '/auth/apps?done=revoked&client=Evil',
      '/auth/apps?done',
      '/auth/apps?flash.revoked=Evil',
    ]) {
      const page = await browser.get(path);
      expect(statusOf(page)).toBeUndefined();
      expect(page.text).not.toContain('Evil');
    }
  });
});
