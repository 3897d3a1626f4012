import { createDecipheriv, hkdfSync } from 'node:crypto';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import type { Browser } from '#test/support/browser.js';
import { FORGER_CLIENT } from '#test/support/forging-provider.js';
import { type DevelopersApp, startDevelopersApp } from '../support/start-developers-app.js';

/**
 * Least right to each route: `public` needs no login, `user` a login, `owner` owns the application or request, and `tester`
 * tests the application. `recent`: the login must be recent, too.
 */
type Rule = 'public' | 'user' | 'invited recent' | 'owner' | 'owner recent' | 'tester';

const RULES: Readonly<Record<string, Rule>> = {
  'GET /icon': 'public',
  'GET /script/copy.js': 'public',
  'GET /login': 'public',
  'GET /login/callback': 'public',
  'GET /logged-out': 'public',
  'POST /logout': 'public',
  'GET /invitation': 'public',
  'GET /invitation/accept': 'invited recent',
  'POST /invitation/accept': 'invited recent',
  'GET /': 'user',
  'GET /requests/new': 'user',
  'POST /requests': 'user',
  'GET /requests/:id': 'owner',
  'POST /requests/:id': 'owner',
  'POST /requests/:id/messages': 'owner',
  'POST /requests/:id/withdraw': 'owner',
  'POST /requests/:id/again': 'owner',
  'GET /applications/:id': 'owner',
  'GET /applications/:id/integrate': 'owner',
  'GET /applications/:id/history': 'owner',
  'GET /applications/:id/activity': 'owner',
  'GET /applications/:id/activity/:refusal': 'owner',
  'GET /applications/:id/try': 'owner',
  'POST /applications/:id/try': 'owner',
  'POST /applications/:id/try/return': 'owner',
  'POST /applications/:id/try/:step': 'owner',
  'GET /applications/:id/events': 'owner',
  'POST /applications/:id/events/enable': 'owner',
  'POST /applications/:id/events/:jti/redeliver': 'owner',
  'GET /applications/:id/change': 'owner',
  'POST /applications/:id/change': 'owner',
  'GET /applications/:id/delete': 'owner recent',
  'POST /applications/:id/delete': 'owner recent',
  'GET /applications/:id/secrets/new': 'owner recent',
  'POST /applications/:id/secrets': 'owner recent',
  'GET /applications/:id/secrets/:secret/revoke': 'owner recent',
  'POST /applications/:id/secrets/:secret/revoke': 'owner recent',
  'GET /applications/:id/keys': 'owner',
  'GET /applications/:id/keys/change': 'owner recent',
  'POST /applications/:id/keys': 'owner recent',
  'GET /applications/:id/keys/remove': 'owner recent',
  'POST /applications/:id/keys/remove': 'owner recent',
  'GET /applications/:id/team': 'owner',
  'POST /applications/:id/invitations': 'owner recent',
  'POST /applications/:id/invitations/:invitation/revoke': 'owner',
  'GET /applications/:id/team/:kind/:member/remove': 'owner recent',
  'POST /applications/:id/team/:kind/:member/remove': 'owner recent',
  'GET /tests/:id/leave': 'tester',
  'POST /tests/:id/leave': 'tester',
};

interface Owned {
  readonly browser: Browser;
  readonly userId: number;
  /** Values of the parameters of routes. */
  readonly values: Readonly<
    Record<
      'id' | 'request' | 'refusal' | 'secret' | 'invitation' | 'member' | 'kind' | 'step' | 'jti',
      string
    >
  >;
}

let portal: DevelopersApp;
let owned: Owned;
let users: Readonly<Record<'tester' | 'former owner' | 'owner of another application', Browser>>;

async function openApplication(): Promise<Owned> {
  const { browser, userId } = await portal.developer();
  const id = await portal.application(browser);
  await portal.postForm(browser, `/applications/${id}/invitations`, { kind: 'owner' });
  const one = async (sql: string) =>
    String(((await portal.fixture.sql(sql, [id])) as { value: unknown }[])[0]?.value);
  const values = {
    id,
    request: await one('SELECT id AS value FROM client_requests WHERE client_id = $1'),
    secret: await one('SELECT id AS value FROM client_secrets WHERE client_id = $1'),
    invitation: await one('SELECT id AS value FROM client_invitations WHERE client_id = $1'),
    refusal: String((await portal.refusal(id)).id),
    member: String(userId),
    kind: 'owner',
    step: 'exchange',
    jti: await one(
      `WITH stream AS (
         INSERT INTO event_streams (client_id, delivery, events_requested) VALUES ($1, 'poll', '{}') RETURNING id)
       INSERT INTO events (stream_id, type, txn, outcome, finished_at)
       SELECT id, 'verification', id, 'delivered', now() FROM stream RETURNING jti AS value`,
    ),
  };
  return { browser, userId, values };
}

beforeAll(async () => {
  portal = await startDevelopersApp();
  owned = await openApplication();
  const [tester, former] = [await portal.developer(), await portal.developer()];
  const { id } = owned.values;
  await portal.fixture.sql('INSERT INTO client_testers (client_id, user_id) VALUES ($1, $2)', [
    id,
    tester.userId,
  ]);
  await portal.fixture.sql('INSERT INTO client_owners (client_id, user_id) VALUES ($1, $2)', [
    id,
    former.userId,
  ]);
  await portal.fixture.sql('DELETE FROM client_owners WHERE user_id = $1', [former.userId]);
  const other = await openApplication();
  users = {
    tester: tester.browser,
    'former owner': former.browser,
    'owner of another application': other.browser,
  };
});
afterAll(() => portal.close());

/** Routes of all controllers, like `GET /applications/:id`. */
function routes(): string[] {
  return portal.controllers.flatMap((controller) => {
    const base = String(Reflect.getMetadata(PATH_METADATA, controller) ?? '');
    return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
      const handler = (controller.prototype as Record<string, object>)[name] ?? {};
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      const pattern = `/${base}/${String(Reflect.getMetadata(PATH_METADATA, handler))}`;
      return [`${RequestMethod[method]} ${pattern.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '')}`];
    });
  });
}

const withRule = (...rules: readonly Rule[]) =>
  Object.keys(RULES).filter((route) => rules.some((rule) => RULES[route] === rule));
const recent = (...routesOf: readonly string[]) =>
  routesOf.filter((route) => RULES[route]?.endsWith('recent'));
const OWNERS = withRule('owner', 'owner recent');

function send(route: string, browser: Browser, values: Owned['values'] = owned.values) {
  const [method, pattern = ''] = route.split(' ');
  const known: Readonly<Record<string, string>> = pattern.startsWith('/requests/')
    ? { ...values, id: values.request }
    : values;
  const path = pattern.replaceAll(/:(\w+)/g, (_, key: string) => known[key] ?? '');
  return method === 'GET'
    ? browser.get(path)
    : portal.postForm(browser, path, { version: '1', text: 'Hello.', kind: 'owner' });
}

it('every route has a rule', () => {
  const name = (route: string) => route.replace(/^GET \/script\/.*/, 'GET /script/copy.js');
  expect(routes().map(name).sort()).toEqual(Object.keys(RULES).sort());
});

it('every route that is not public leads an anonymous user to the login', async () => {
  for (const route of Object.keys(RULES).filter((each) => RULES[each] !== 'public')) {
    const { status, headers } = await send(route, portal.browser());
    expect([route, status, headers['location']]).toEqual([
      route,
      303,
      expect.stringMatching(/^\/login\?page=/),
    ]);
  }
});

it('every route that is not public is refused after 300 requests of a session in a minute', async () => {
  const { browser, values } = await openApplication();
  const { redis } = portal.fixture;
  await portal.resetRateLimits();
  await browser.get('/');
  const [counter = ''] = await redis.keys('developers:rate:pages:*');
  for (const route of Object.keys(RULES).filter((each) => RULES[each] !== 'public')) {
    await redis.set(counter, 300, 'EX', 60);
    const { status, headers } = await send(route, browser, values);
    expect([route, status, Number(headers['retry-after'])]).toEqual([route, 429, expect.any(Number)]);
  }
  await portal.resetRateLimits();
});

it('every route that needs a recent login asks for it', async () => {
  const { browser, userId, values } = await openApplication();
  await portal.logIn(browser, userId, '/', { auth_time: Math.floor(Date.now() / 1000) - 601 });
  const all = recent(...Object.keys(RULES));
  expect(all.length).toBeGreaterThan(8);
  for (const route of all) {
    const { status, headers } = await send(route, browser, values);
    expect([route, status, headers['location']]).toEqual([route, 303, expect.stringContaining('again=')]);
  }
});

describe.each(['tester', 'former owner', 'owner of another application'] as const)('a %s', (user) => {
  it('finds no page and no request of the application', async () => {
    for (const route of OWNERS) {
      const response = await send(route, users[user]);
      expect([route, response.status]).toEqual([route, 404]);
      expect(response.text).not.toContain('Room Finder');
    }
  });

  it('opens the pages of every user, and only a tester the pages of testers', async () => {
    for (const route of withRule('user').filter((each) => each.startsWith('GET')))
      expect([route, (await send(route, users[user])).status]).toEqual([route, 200]);
    for (const route of withRule('tester'))
      if (user !== 'tester') expect([route, (await send(route, users[user])).status]).toEqual([route, 404]);
      else if (route.startsWith('GET')) expect((await send(route, users[user])).status).toBe(200);
  });

  it('finds no invitation without its token', async () => {
    for (const route of withRule('invited recent'))
      expect([route, (await send(route, users[user])).status]).toEqual([route, 404]);
  });
});

it('a secret, an invitation and a member of another application cannot be changed through an own one', async () => {
  const { browser, values } = await openApplication();
  const { secret, invitation, member } = owned.values;
  for (const route of OWNERS.filter((each) => /^POST.*:(?:secret|invitation|member)/.test(each)))
    expect([route, (await send(route, browser, { ...values, secret, invitation, member })).status]).toEqual([
      route,
      404,
    ]);
});

describe('an owner', () => {
  it('sees every page', async () => {
    for (const route of OWNERS.filter((each) => each.startsWith('GET')))
      expect([route, (await send(route, owned.browser)).status]).toEqual([route, 200]);
  });

  it('can send every form', async () => {
    for (const route of OWNERS.filter((each) => each.startsWith('POST'))) {
      const { browser, values } = await openApplication();
      // 409: the state of the application or request does not permit the step, or the owner is the last one.
      const { status, headers } = await send(route, browser, values);
      // The application has a secret, which must be revoked before keys replace it.
      const accepted = route === 'POST /applications/:id/keys' ? [400] : [200, 201, 303, 409];
      expect([route, accepted.includes(status) || status]).toEqual([route, true]);
      expect(headers['location'] ?? '').not.toContain('/login');
    }
  });

  it('is refused without the CSRF token, and with a token of another path', async () => {
    const path = `/applications/${owned.values.id}/secrets`;
    expect((await owned.browser.post(path, { days: '' })).status).toBe(403);
    const foreign = await owned.browser.get(`/applications/${owned.values.id}/team`);
    const [, token = ''] = /name="csrf_token" value="([^"]+)"/.exec(foreign.text) ?? [];
    expect((await owned.browser.post(path, { days: '', csrf_token: token })).status).toBe(403);
  });

  it('must log in again after the account was disabled, and cannot change anything', async () => {
    const { browser, userId } = await portal.developer();
    const id = await portal.application(browser);
    await portal.fixture.sql('UPDATE grants SET revoked_at = now() WHERE user_id = $1', [userId]);
    await portal.fixture.sql('UPDATE users SET operator_disabled_at = now() WHERE id = $1', [userId]);
    for (const route of ['', '/team', '/secrets/new'])
      expect((await browser.get(`/applications/${id}${route}`)).headers['location']).toContain(
        '/login?page=',
      );
    const refused = await portal.postForm(browser, `/applications/${id}/delete`);
    expect(refused.headers['location']).toContain('/login?page=');
    expect(await portal.fixture.sql('SELECT deleted_at FROM clients WHERE client_id = $1', [id])).toEqual([
      { deleted_at: null },
    ]);
  });

  it('who disconnects the portal must log in again', async () => {
    const { browser, userId } = await portal.developer();
    await portal.fixture.sql('UPDATE grants SET revoked_at = now() WHERE user_id = $1', [userId]);
    expect((await browser.get('/')).headers['location']).toBe('/login?page=%2F');
  });
});

describe('the log-out', () => {
  it('ends the session, and revokes the token that identifies the user', async () => {
    const { browser } = await portal.developer();
    const before = portal.provider.state.revoked.length;
    const page = await portal.postForm(browser, '/logout');
    expect(page.text).toContain('You are logged out');
    expect(portal.provider.state.revoked.slice(before)).toEqual([expect.stringMatching(/^sac_/)]);
    expect((await browser.get('/')).headers['location']).toContain('/login');
  });
});

describe('concurrent requests of two users', () => {
  it('each see only their own applications', async () => {
    const [ada, grace] = [await portal.developer(), await portal.developer()];
    await portal.application(ada.browser, { name: 'Rooms of Ada' });
    await portal.application(grace.browser, { name: 'Rooms of Grace' });
    const pages = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? ada : grace).browser.get('/')),
    );
    for (const [at, { text }] of pages.entries()) {
      const [own, other] =
        at % 2 === 0 ? ['Rooms of Ada', 'Rooms of Grace'] : ['Rooms of Grace', 'Rooms of Ada'];
      expect(text).toContain(own);
      expect(text).not.toContain(other);
    }
  });
});

it('no session can be read with all credentials of the portal, without the cookie of the browser', async () => {
  const { redis } = portal.fixture;
  const [name = ''] = await redis.keys('developers:session:*');
  const bytes = Buffer.from((await redis.get(name)) ?? '', 'base64url');
  const key = Buffer.from(hkdfSync('sha256', FORGER_CLIENT.secret, '', 'session of the developers', 32));
  // Without the check of the tag, GCM decrypts whatever the key fits.
  const text = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    .update(bytes.subarray(28))
    .toString();
  expect(text).not.toContain('"token"');
});
