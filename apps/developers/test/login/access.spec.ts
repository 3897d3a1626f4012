import { createDecipheriv, hkdfSync } from 'node:crypto';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import type { Browser } from '#test/support/browser.js';
import { FORGER_CLIENT } from '#test/support/forging-provider.js';
import { type DevelopersApp, startDevelopersApp } from '../support/start-developers-app.js';

const PUBLIC = [
  'GET /icon',
  'GET /login',
  'GET /login/callback',
  'GET /logged-out',
  'POST /logout',
  'GET /invitation',
];

let portal: DevelopersApp;
let values: Readonly<Record<string, string>>;
let users: Readonly<Record<'owner' | 'tester' | 'other', Browser>>;

beforeAll(async () => {
  portal = await startDevelopersApp();
  const [owner, tester, other] = [
    await portal.developer(),
    await portal.developer(),
    await portal.developer(),
  ];
  const id = await portal.application(owner.browser);
  await portal.fixture.sql('INSERT INTO client_testers (client_id, user_id) VALUES ($1, $2)', [
    id,
    tester.userId,
  ]);
  const invited = await portal.postForm(owner.browser, `/applications/${id}/invitations`, { kind: 'owner' });
  expect(invited.status).toBe(201);
  const one = async (sql: string) =>
    String(((await portal.fixture.sql(sql, [id])) as { value: unknown }[])[0]?.value);
  values = {
    id,
    secret: await one('SELECT id AS value FROM client_secrets WHERE client_id = $1'),
    invitation: await one('SELECT id AS value FROM client_invitations WHERE client_id = $1'),
    request: await one('SELECT id AS value FROM client_requests WHERE client_id = $1'),
    refusal: String((await portal.refusal(id)).id),
    member: String(owner.userId),
    kind: 'owner',
  };
  users = { owner: owner.browser, tester: tester.browser, other: other.browser };
});
afterAll(() => portal.close());

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/** Routes of all controllers, with the values of the owner's application. */
function routes(): Route[] {
  return portal.controllers.flatMap((controller) => {
    const base = String(Reflect.getMetadata(PATH_METADATA, controller) ?? '');
    return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
      const handler = (controller.prototype as Record<string, object>)[name] ?? {};
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      const pattern = `/${base}/${String(Reflect.getMetadata(PATH_METADATA, handler))}`;
      const known: Readonly<Record<string, string>> = pattern.startsWith('/requests/')
        ? { ...values, id: values['request'] ?? '' }
        : values;
      const path = pattern.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '');
      return [
        {
          method: RequestMethod[method] as Route['method'],
          path: path.replaceAll(/:(\w+)/g, (_, key: string) => known[key] ?? ''),
        },
      ];
    });
  });
}

const isPublic = ({ method, path }: Route) =>
  PUBLIC.includes(`${method} ${path}`) || path.startsWith('/script/');

const send = ({ method, path }: Route, browser: Browser) =>
  method === 'GET'
    ? browser.get(path)
    : portal.postForm(browser, path, { version: '1', text: 'Hello.', kind: 'owner' });

it('there are routes to check', () => {
  expect(routes().length).toBeGreaterThan(25);
  expect(routes().filter(isPublic)).toHaveLength(PUBLIC.length + 1);
});

it('every route that is not public leads an anonymous user to the login', async () => {
  for (const route of routes().filter((each) => !isPublic(each))) {
    const response = await send(route, portal.browser());
    expect([route, response.status, response.headers['location']]).toEqual([
      route,
      303,
      expect.stringMatching(/^\/login\?page=/),
    ]);
  }
});

describe.each(['tester', 'other'] as const)('a user who does not own the application (%s)', (user) => {
  it('finds no page and no request of the application', async () => {
    const owned = routes().filter(
      ({ path }) => path.includes(values['id'] ?? '') || path.includes(values['request'] ?? ''),
    );
    expect(owned.length).toBeGreaterThan(15);
    for (const route of owned) {
      const response = await send(route, users[user]);
      expect([route, response.status]).toEqual([route, 404]);
      expect(response.text).not.toContain('Room Finder');
    }
  });
});

describe('an owner', () => {
  it('sees every page', async () => {
    for (const route of routes().filter((each) => each.method === 'GET' && !isPublic(each)))
      expect([route, (await send(route, users.owner)).status]).toEqual([route, 200]);
  });

  it('is refused without the CSRF token, and with a token of another path', async () => {
    const path = `/applications/${values['id']}/secrets`;
    expect((await users.owner.post(path, { days: '' })).status).toBe(403);
    const foreign = await users.owner.get(`/applications/${values['id']}/team`);
    const [, token = ''] = /name="csrf_token" value="([^"]+)"/.exec(foreign.text) ?? [];
    expect((await users.owner.post(path, { days: '', csrf_token: token })).status).toBe(403);
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
