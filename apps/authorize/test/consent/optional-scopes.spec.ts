import type { Response } from 'supertest';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import { storedGrant } from '#test/support/stored.js';
import { authorizeAddress, PASSWORD, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import { type Browser, wordsOf } from '#test/support/browser.js';

const AUTHORIZE = '/auth/oauth2/authorize';
const scopes = ['profile:read', 'schedules:read', 'bookings:read', 'bookings:write'];
const optionalScopes = ['bookings:read', 'bookings:write'];
const { app } = useAuthorizeApp();
let calendar: Client;
let user: User;

beforeEach(async () => {
  calendar = await app.client({ scopes, optionalScopes });
  user = await app.user();
});

const addressFor = (scope: string, prompt?: string) =>
  authorizeAddress({ client_id: calendar.clientId, redirect_uri: REDIRECT_URI, state: 's1', scope, prompt });
const boxesOf = ({ text }: { text: string }) =>
  Object.fromEntries(
    [...text.matchAll(/<input\s+type="checkbox"[^>]*>/g)].map(([box]) => [
      /name="allow:([^"]+)"/.exec(box)?.[1],
      /\schecked/.test(box),
    ]),
  );
const granted = async () => {
  const sql =
    'SELECT scope, requested_scope AS requested FROM grants WHERE client_id = $1 ORDER BY created_at';
  return app.sql<{ scope: string; requested: string }>(sql, [calendar.clientId]);
};
const allow = (browser: Browser, page: Response, fields: Record<string, string> = {}) =>
  browser.submit(page, { ...fields, decision: 'allow' }, AUTHORIZE);

describe('optional scopes', () => {
  it('have checkboxes that are initially unticked', async () => {
    const page = await (
      await app.loggedIn(user)
    ).get(addressFor('profile:read bookings:read bookings:write'));
    expect(boxesOf(page)).toEqual({ 'bookings:read': false, 'bookings:write': false });
    expect(wordsOf(page)).toMatch(
      /This will allow Calendar Connect to: View your profile.*You can also allow Calendar Connect to: View your bookings.*Create, reschedule/,
    );
  });

  it('are granted in addition to the required scopes if they are ticked', async () => {
    const browser = await app.loggedIn(user);
    const scope = 'bookings:write profile:read bookings:read';
    const page = await browser.get(addressFor(scope));
    expect((await allow(browser, page, { 'allow:bookings:read': 'yes' })).status).toBe(303);
    expect(await granted()).toEqual([{ scope: 'profile:read bookings:read', requested: scope }]);
  });

  it.each(['schedules:read', 'bookings:write', 'admin'])(
    'cannot be granted if they were not requested: %s',
    async (scope) => {
      const browser = await app.loggedIn(user);
      const page = await browser.get(addressFor('profile:read bookings:read'));
      await allow(browser, page, { [`allow:${scope}`]: 'yes', 'allow:bookings:read': 'yes' });
      expect(await granted()).toMatchObject([{ scope: 'profile:read bookings:read' }]);
    },
  );

  it('are ticked as in the last decision when the consent page is shown again', async () => {
    const browser = await app.loggedIn(user);
    const scope = 'profile:read bookings:read bookings:write';
    await allow(browser, await browser.get(addressFor(scope)), { 'allow:bookings:write': 'yes' });
    const again = await browser.get(addressFor(scope, 'consent'));
    expect(boxesOf(again)).toEqual({ 'bookings:read': false, 'bookings:write': true });
    expect(again.text).not.toContain('<details>');
    await allow(browser, again);
    expect(await granted()).toMatchObject([
      { scope: 'profile:read bookings:write' },
      { scope: 'profile:read' },
    ]);
  });

  it.each(['bookings:read bookings:write', 'profile:read bookings:read bookings:write'])(
    'stay unticked on the page after an expired session: %s',
    async (scope) => {
      const ticked = { 'allow:bookings:read': 'yes', 'allow:bookings:write': 'yes' };
      const browser = await app.loggedIn(user);
      await allow(browser, await browser.get(addressFor(scope)), ticked);
      let page = await browser.get(addressFor(scope, 'consent'));
      // The second login follows a page that already has cleared boxes.
      for (const cleared of ['bookings:read', 'bookings:write']) {
        expect(boxesOf(page)).toMatchObject({ [cleared]: true });
        const { [cleared]: _, ...boxes } = boxesOf(page);
        const kept = Object.keys(boxes).filter((name) => boxes[name]);
        await app.redis.del(...(await app.redis.keys('session:*')));
        const fields = Object.fromEntries(kept.map((name) => [`allow:${name}`, 'yes']));
        const login = await browser.follow(await allow(browser, page, fields));
        const loggedIn = await browser.submit(login, { username: user.email, password: PASSWORD });
        page = await browser.follow(loggedIn);
        expect(boxesOf(page)).toEqual({ ...boxes, [cleared]: false });
      }
      if (!scope.includes('profile:read')) return;
      await allow(browser, page);
      expect((await granted()).at(-1)?.scope).toBe('profile:read');
    },
  );

  it('are not ticked by a parameter of the application', async () => {
    const page = await (
      await app.loggedIn(user)
    ).get(`${addressFor('profile:read bookings:read')}&cleared_scopes=-bookings:read+x`);
    expect(boxesOf(page)).toEqual({ 'bookings:read': false });
  });

  it('are absent from all live grants after they are declined, and stay unticked', async () => {
    const browser = await app.loggedIn(user);
    const scope = 'profile:read bookings:read';
    await allow(browser, await browser.get(addressFor('profile:read')));
    await allow(browser, await browser.get(addressFor(scope)), { 'allow:bookings:read': 'yes' });
    await allow(browser, await browser.get(addressFor(scope, 'consent')));
    const grants = await app.sql<{ id: string; live: boolean }>(
      'SELECT id, revoked_at IS NULL AS live FROM grants WHERE client_id = $1 ORDER BY created_at',
      [calendar.clientId],
    );
    expect(grants.map(({ live }) => live)).toEqual([true, false, true]);
    const stored = await Promise.all(grants.map(({ id }) => storedGrant(app.redis, id)));
    expect(stored.map(({ status }) => status)).toEqual(['pending', 'revoked', 'pending']);
    await app.sql('UPDATE grants SET revoked_at = now() WHERE id = $1', [grants[2]?.id]);
    const silent = await browser.get(addressFor(scope));
    expect(boxesOf(silent)).toEqual({ 'bookings:read': false });
  });

  it.each([false, true])(
    'are not in a concurrent grant if they are declined (first party: %s)',
    async (firstParty) => {
      const browser = await app.loggedIn(user);
      const scope = 'profile:read bookings:read';
      for (let round = 0; round < 20; round += 1) {
        calendar = await app.client({ scopes, optionalScopes, firstParty });
        const ticked = { 'allow:bookings:read': 'yes' };
        await allow(browser, await browser.get(addressFor(scope, 'consent')), ticked);
        const page = await browser.get(addressFor(scope, 'consent'));
        const silent = () => browser.get(addressFor(scope));
        await Promise.all([silent(), silent(), allow(browser, page), silent(), silent()]);
        const live = await app.sql<{ scope: string }>(
          'SELECT scope FROM grants WHERE client_id = $1 AND revoked_at IS NULL',
          [calendar.clientId],
        );
        expect(new Set(live.map((grant) => grant.scope))).toEqual(new Set(['profile:read']));
      }
    },
  );

  it('are shown if they are new, and collapsed if they were already decided', async () => {
    const browser = await app.loggedIn(user);
    await allow(browser, await browser.get(addressFor('profile:read bookings:read')), {
      'allow:bookings:read': 'yes',
    });
    const more = await browser.get(
      addressFor('profile:read schedules:read bookings:read bookings:write', ''),
    );
    const [now = '', before = ''] = more.text.split('<details>');
    expect(boxesOf({ text: now })).toEqual({ 'bookings:write': false });
    expect(boxesOf({ text: before })).toEqual({ 'bookings:read': true });
    expect(wordsOf({ text: `<main>${now}` })).toMatch(
      /This will also allow Calendar Connect to: View your schedules/,
    );
    expect(now).not.toContain('View your profile');
    expect(before).toContain('View your profile');
    await allow(browser, more, { 'allow:bookings:read': 'yes' });
    expect((await granted())[1]).toMatchObject({ scope: 'profile:read schedules:read bookings:read' });
  });

  it('cannot all be declined if nothing else is requested', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(addressFor('bookings:read bookings:write'));
    // No required scope precedes the optional scopes.
    expect(wordsOf(page)).toContain('Choose what Calendar Connect can do: View your bookings');
    const answer = await allow(browser, page);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(
      '<title>Error: Allow Calendar Connect to access your account? · Scheduling</title>',
    );
    expect(answer.text).toMatch(/role="alert" id="problem">Select at least one/);
    expect(answer.text).toMatch(/aria-describedby="problem"[\s\S]*autofocus/);
    expect(await granted()).toEqual([]);
    expect((await allow(browser, answer, { 'allow:bookings:read': 'yes' })).status).toBe(303);
    expect(await granted()).toMatchObject([{ scope: 'bookings:read' }]);
  });

  it('are shown on another consent page if they become required while the page is open', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(addressFor('profile:read bookings:read'));
    await app.sql("UPDATE clients SET optional_scopes = '{}' WHERE client_id = $1", [calendar.clientId]);
    const again = await allow(browser, page);
    expect(again.status).toBe(200);
    expect(boxesOf(again)).toEqual({});
    expect(await granted()).toEqual([]);
    expect((await allow(browser, again)).status).toBe(303);
    expect(await granted()).toMatchObject([{ scope: 'profile:read bookings:read' }]);
  });
});
