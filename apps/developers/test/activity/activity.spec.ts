import type { Browser } from '#test/support/browser.js';
import { type DevelopersApp, startDevelopersApp } from '../support/start-developers-app.js';

const DAY_MS = 86_400_000;

let portal: DevelopersApp;
let browser: Browser;
let id: string;
beforeAll(async () => {
  portal = await startDevelopersApp();
  ({ browser } = await portal.developer());
  id = await portal.application(browser);
});
afterAll(() => portal.close());

const page = async (query: Record<string, string> = {}, of = id) =>
  browser.get(`/applications/${of}/activity?${new URLSearchParams(query).toString()}`);

const referencesIn = (text: string) => [...text.matchAll(/<code>([\w-]{12})<\/code>/g)].map(([, one]) => one);

describe('the refused requests of an application', () => {
  it('are found by reference, cause and time, newest first', async () => {
    const now = Date.now();
    const old = await portal.refusal(id, { at: new Date(now - 2 * DAY_MS) });
    const expired = await portal.refusal(id, { at: new Date(now - DAY_MS), cause: 'code_replayed' });
    const latest = await portal.refusal(id);
    const found = async (query: Record<string, string>) => referencesIn((await page(query)).text);
    expect(await found({})).toEqual([latest, expired, old].map(({ reference }) => reference));
    expect(await found({ reference: `error_reference: "${old.reference}"` })).toEqual([old.reference]);
    expect(await found({ cause: 'code_replayed' })).toEqual([expired.reference]);
    const time = (at: Date) => at.toISOString().slice(0, 16);
    expect(await found({ since: time(expired.at) })).toEqual([latest.reference, expired.reference]);
    expect(await found({ until: time(expired.at) })).toEqual([old.reference]);
  });

  it('are below the charts, where the browser continues after a search', async () => {
    const other = await portal.application(browser);
    for (let n = 0; n < 26; n++) await portal.refusal(other);
    const { text } = await page({ cause: 'redirect_uri_mismatch' }, other);
    expect(text).toContain('id="refused"');
    expect(text).toContain(`action="/applications/${other}/activity#refused"`);
    expect(text).toMatch(/cursor=[^"]+#refused"/);
  });

  it('do not include requests with an unknown client id, which an empty result explains', async () => {
    const { text } = await page({ reference: 'abcdefghijkl' });
    expect(text).toContain('A request with a wrong client ID is not listed');
  });

  it('have no chart before requests were counted', async () => {
    const { text } = await page();
    expect(text).toContain('No requests have been counted yet.');
    expect(text).not.toContain('<svg');
  });

  it('of 30 days and more are not shown', async () => {
    const other = await portal.application(browser);
    await portal.refusal(other, { at: new Date(Date.now() - 30 * DAY_MS - 1_000) });
    expect(referencesIn((await page({}, other)).text)).toEqual([]);
  });

  it('are shown in pages, in both directions', async () => {
    const other = await portal.application(browser);
    for (let n = 0; n < 40; n++) await portal.refusal(other, { at: new Date(Date.now() - n * 60_000) });
    const first = await page({}, other);
    const [, cursor = ''] = /cursor=([^"&#]+)/.exec(first.text) ?? [];
    const second = await page({ cursor }, other);
    const shown = [...referencesIn(first.text), ...referencesIn(second.text)];
    expect([referencesIn(first.text).length, new Set(shown).size]).toEqual([25, 40]);
    const [, back = ''] = /cursor=([^"&#]+)/.exec(second.text) ?? [];
    expect(referencesIn((await page({ cursor: back }, other)).text)).toEqual(referencesIn(first.text));
  });

  it('with an invalid query show a problem', async () => {
    for (const query of [{ reference: 'short' }, { since: 'yesterday' }, { cursor: 'x' }]) {
      const refused = await page(query);
      expect([query, refused.status]).toEqual([query, 400]);
      expect(refused.text).toContain('role="alert"');
    }
  });

  it('are explained with the compared values and the remedy for the application', async () => {
    const refusal = await portal.refusal(id);
    const { text } = await browser.get(`/applications/${id}/activity/${refusal.id}`);
    for (const shown of [
      'redirect_uri_mismatch',
      'What you can do',
      'https://rooms.example.com/callback<ins>/</ins>',
      '400 invalid_grant',
      refusal.reference,
    ])
      expect(text).toContain(shown);
    expect(text).not.toContain('operator client');
  });

  it.each([
    ['de', 'Die redirect_uri weicht von der Autorisierungsanfrage ab', 'genau die <code>redirect_uri</code>'],
    ['ar', 'يختلف redirect_uri عن طلب التفويض', '<code>redirect_uri</code>'],
  ])('are explained in the language %s, if the cause is a frequent one', async (language, title, meaning) => {
    const refusal = await portal.refusal(id);
    const rare = await portal.refusal(id, { cause: 'dpop_jwk_invalid' });
    const read = (path: string) =>
      browser.get(`/applications/${id}/activity${path}`, { 'accept-language': language });
    const { text } = await read(`/${refusal.id}`);
    for (const shown of [`<h2>${title}</h2>`, meaning]) expect(text).toContain(shown);
    expect((await read('')).text).toContain(`>${title}</a>`);
    expect((await read(`/${rare.id}`)).text).toContain('<h2><span lang="en" dir="ltr">');
  });

  it('of another application are not found under an own one', async () => {
    const stranger = await portal.developer();
    const foreign = await portal.application(stranger.browser);
    const refusal = await portal.refusal(foreign);
    expect((await browser.get(`/applications/${id}/activity/${refusal.id}`)).status).toBe(404);
    expect(referencesIn((await page({ reference: refusal.reference })).text)).toEqual([]);
  });
});

describe('the charts', () => {
  it('show successful and refused requests by hour and by day, each with a table', async () => {
    const other = await portal.application(browser);
    const hour = new Date(Date.now() - (Date.now() % 3_600_000));
    for (const [type, check, count] of [
      ['token.issued', '', 3],
      ['token.refreshed', '', 4],
      ['request.refused', 'code_expired', 5],
    ])
      await portal.fixture.sql(
        `INSERT INTO audit_counts VALUES ($1, $2, $3, $4, '', $5, $2, $2, 'counted_once')`,
        [other, hour, type, check, count],
      );
    const { text } = await page({}, other);
    expect(text.match(/<svg\s+class="chart"\s+role="img"/g)).toHaveLength(2);
    expect(text.match(/<div>7<\/div><\/td><td[^>]*><div>5<\/div>/g)).toHaveLength(2);
    expect((await page({})).text).not.toContain('<div>7</div>');
  });
});
