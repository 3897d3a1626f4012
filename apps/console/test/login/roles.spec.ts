import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { COPY_SCRIPT_PATH } from '#pages/copy-script.js';
import type { Browser } from '#test/support/browser.js';
import { CONSOLE_ROLES as ROLES, type ConsoleRole as Role } from '#users/operators/console-role.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

/** Minimum role for every page; null for pages without a login. Add each new page. */
const PAGES: Readonly<Record<string, Role | null>> = {
  'GET /': 'viewer',
  'GET /login': null,
  'GET /login/callback': null,
  'POST /logout': null,
  'GET /logged-out': null,
  'GET /icon': null,
  [`GET ${COPY_SCRIPT_PATH}`]: null,
  'GET /applications': 'viewer',
  'GET /applications/new': 'admin',
  'POST /applications/new': 'admin',
  'GET /applications/:id': 'viewer',
  'GET /applications/:id/edit': 'admin',
  'POST /applications/:id/edit': 'admin',
  'POST /applications/:id/save': 'admin',
  'GET /applications/:id/disable': 'support',
  'POST /applications/:id/disable': 'support',
  'POST /applications/:id/enable': 'support',
  'GET /applications/:id/delete': 'admin',
  'POST /applications/:id/delete': 'admin',
  'GET /applications/:id/secrets/new': 'admin',
  'POST /applications/:id/secrets/new': 'admin',
  'GET /applications/:id/secrets/:secret/revoke': 'admin',
  'POST /applications/:id/secrets/:secret/revoke': 'admin',
  'GET /applications/:id/handover': 'viewer',
  'GET /applications/:id/handover.md': 'viewer',
  'GET /applications/:id/consent': 'viewer',
  'GET /applications/:id/consent/:locale': 'viewer',
  'GET /applications/:id/logo': 'admin',
  'POST /applications/:id/logo': 'admin',
  'GET /applications/:id/logo/image': 'viewer',
  'GET /applications/:id/keys': 'admin',
  'POST /applications/:id/keys': 'admin',
  'GET /applications/:id/keys/:key/remove': 'admin',
  'POST /applications/:id/keys/:key/remove': 'admin',
  'GET /applications/:id/events': 'viewer',
  'POST /applications/:id/events/receiver': 'admin',
  'POST /applications/:id/events/pause': 'support',
  'POST /applications/:id/events/enable': 'support',
  'POST /applications/:id/events/:jti/redeliver': 'support',
  'GET /applications/:id/events/delete': 'admin',
  'POST /applications/:id/events/delete': 'admin',
  'GET /requests': 'viewer',
  'GET /requests/:id': 'viewer',
  'GET /requests/:id/logo': 'viewer',
  'GET /requests/:id/ask': 'support',
  'POST /requests/:id/ask': 'support',
  'GET /requests/:id/reject': 'admin',
  'POST /requests/:id/reject': 'admin',
  'GET /requests/:id/approve': 'admin',
  'POST /requests/:id/approve': 'admin',
  'GET /users': 'viewer',
  'GET /users/:id': 'viewer',
  'GET /users/:id/disable': 'support',
  'POST /users/:id/disable': 'support',
  'POST /users/:id/enable': 'support',
  'POST /users/:id/logout': 'support',
  'GET /users/:id/delete': 'admin',
  'POST /users/:id/delete': 'admin',
  'GET /operators': 'viewer',
  'GET /operators/new': 'admin',
  'POST /operators/new': 'admin',
  'GET /operators/:id': 'admin',
  'POST /operators/:id': 'admin',
  'POST /operators/invitations/:id/revoke': 'admin',
  'GET /grants': 'viewer',
  'POST /grants/:id/revoke': 'support',
  'GET /jobs': 'viewer',
  'GET /jobs/new': 'support',
  'POST /jobs/new': 'support',
  'POST /jobs': 'support',
  'GET /jobs/:id': 'viewer',
  'POST /jobs/:id': 'support',
  'POST /jobs/:id/stop': 'support',
  'GET /events': 'viewer',
  'GET /audit': 'viewer',
  'GET /audit/events.jsonl': 'viewer',
  'GET /health': 'viewer',
  'POST /health': 'viewer',
  'GET /health/keys': 'admin',
  'POST /health/keys/token': 'admin',
  'POST /health/keys/id-token': 'admin',
};

/** Routes that require a login within the last ten minutes; add each new sensitive route. */
const DANGEROUS = [
  'GET /applications/new',
  'POST /applications/new',
  'GET /applications/:id/delete',
  'POST /applications/:id/delete',
  'GET /applications/:id/secrets/new',
  'POST /applications/:id/secrets/new',
  'GET /applications/:id/secrets/:secret/revoke',
  'POST /applications/:id/secrets/:secret/revoke',
  'GET /applications/:id/logo',
  'POST /applications/:id/logo',
  'GET /applications/:id/keys',
  'POST /applications/:id/keys',
  'GET /applications/:id/keys/:key/remove',
  'POST /applications/:id/keys/:key/remove',
  'POST /applications/:id/events/receiver',
  'GET /applications/:id/events/delete',
  'POST /applications/:id/events/delete',
  'GET /requests/:id/approve',
  'POST /requests/:id/approve',
  'GET /users/:id/delete',
  'POST /users/:id/delete',
  'GET /operators/new',
  'POST /operators/new',
  'GET /operators/:id',
  'POST /operators/:id',
  'GET /jobs/new',
  'POST /jobs/new',
  'POST /jobs',
  'POST /jobs/:id',
  'GET /health/keys',
  'POST /health/keys/token',
  'POST /health/keys/id-token',
];

/** Excluded here: the HTTP API has its own tests. */
const API = '/admin/v1';
const FORBIDDEN = /this needs the role/;

let app: ConsoleApp;
const operators = new Map<Role, Browser>();

beforeAll(async () => {
  app = await startConsoleApp();
  for (const role of ROLES) operators.set(role, await app.operator(role));
});

afterAll(() => app.close());

function routesOf(controller: Type): string[] {
  const prefix = Reflect.getMetadata(PATH_METADATA, controller) as string;
  const handlers = Object.getOwnPropertyNames(controller.prototype).map(
    (name) => (controller.prototype as Record<string, object>)[name]!,
  );
  return handlers
    .filter((handler) => Reflect.hasMetadata(METHOD_METADATA, handler))
    .map((handler) => {
      const path = Reflect.getMetadata(PATH_METADATA, handler) as string;
      const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
      return `${method} /${[prefix, path]
        .flatMap((part) => part.split('/'))
        .filter(Boolean)
        .join('/')}`;
    });
}

function send(browser: Browser, route: string) {
  const [method, path = ''] = route.split(' ');
  const address = path.replaceAll(/:\w+/g, '1');
  return method === 'GET' ? browser.get(address) : browser.post(address, {});
}

it('every page is in the table of minimum roles', () => {
  const routes = app.controllers.flatMap(routesOf).filter((route) => !route.includes(` ${API}`));
  expect(routes.toSorted()).toEqual(Object.keys(PAGES).toSorted());
});

it.each(Object.entries(PAGES))('the minimum role of %s is %s', async (route, least) => {
  const anonymous = await send(app.browser(), route);
  if (least === null) return expect(anonymous.headers['location'] ?? '').not.toMatch(/^\/login/);
  expect([anonymous.status, anonymous.headers['location']]).toEqual([
    303,
    expect.stringMatching(/^\/login\?/),
  ]);
  for (const role of ROLES) {
    const page = await send(operators.get(role)!, route);
    const isForbidden = page.status === 403 && FORBIDDEN.test(page.text);
    expect([role, isForbidden]).toEqual([role, ROLES.indexOf(role) < ROLES.indexOf(least)]);
  }
});

it('only dangerous steps require another login after ten minutes', async () => {
  const admin = await app.operator('admin');
  const asking: string[] = [];
  app.clock.ahead = 601_000;
  try {
    for (const [route, least] of Object.entries(PAGES)) {
      if (least === null) continue;
      const [method, path = ''] = route.replaceAll(/:\w+/g, '1').split(' ');
      const page = method === 'GET' ? await admin.get(path) : await app.postForm(admin, path);
      if (/^\/login\?.*&again=$/.test(page.headers['location'] ?? '')) asking.push(route);
    }
  } finally {
    app.clock.ahead = 0;
  }
  expect(asking.toSorted()).toEqual(DANGEROUS.toSorted());
});

it('an error page shows the menu to a logged-in operator', async () => {
  const menuOf = ({ text }: { text: string }) =>
    /<nav[^]*<\/nav>/.exec(text)?.[0].replace(/"form_id" value="[^"]*"/, '');
  const viewer = operators.get('viewer')!;
  const menu = menuOf(await viewer.get('/users/999999'));
  expect(menu).toContain('ada</bdi> (viewer)');
  for (const [status, path] of [
    [403, '/applications/new'],
    [404, '/nothing'],
    [405, '/logout'],
  ] as const) {
    const page = await viewer.get(path);
    expect([page.status, menuOf(page)]).toEqual([status, menu]);
  }
  const anonymous = await app.browser().get('/nothing');
  expect([anonymous.status, menuOf(anonymous)]).toEqual([404, undefined]);
});
