import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import type { RequestMethod, Type } from '@nestjs/common';
import { imageUrl } from '#ui/brand/brand.js';
import { authorizeAddress, type AuthorizeApp, PASSWORD, REDIRECT_URI } from './start-authorize-app.js';
import { SCRIPT_PATH } from '../../src/ui/script.controller.js';
import type { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { AppModule } from '../../src/app.module.js';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text?: string | undefined;
}

type Open = (app: AuthorizeApp) => Promise<Answer>;

const consentOf = async (app: AuthorizeApp, prompt: string): Promise<string> =>
  authorizeAddress({
    client_id: (await app.client()).clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    prompt,
  });

async function loggedIn(app: AuthorizeApp) {
  const user = await app.user();
  const picture = 'https://avatars.example.com/1.png';
  await app.sql('UPDATE users SET avatar_url = $1 WHERE id = $2', [picture, user.id]);
  return app.loggedIn(user);
}

async function connected(app: AuthorizeApp) {
  const browser = await loggedIn(app);
  const consent = await consentOf(app, 'consent');
  await browser.submit(await browser.get(consent), { decision: 'allow' }, '/auth/oauth2/authorize');
  return { browser, clientId: new URLSearchParams(consent.split('?')[1]).get('client_id') ?? '' };
}

/** Sends bytes that Node rejects before a handler runs. */
function malformed({ url }: AuthorizeApp): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write('EHLO evil.example\r\n\r\n'));
    socket.on('data', (bytes) => (text += bytes.toString('utf8')));
    socket.on('error', reject);
    socket.on('end', () => {
      const [head = '', body] = text.split('\r\n\r\n');
      const lines = head.split('\r\n').slice(1);
      const headers = lines.map((line): [string, string] => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]);
      resolve({ status: Number(head.split(' ')[1]), headers: Object.fromEntries(headers), text: body });
    });
  });
}

/** One response of every kind, with the covered GET route and the name of its policy in docs/security.md. */
export const EVERY_RESPONSE: readonly [name: string, route: string | null, policy: string, open: Open][] = [
  ['the login page', '/auth/login', 'the login page', async (app) => app.browser().get('/auth/login')],
  [
    'the consent page',
    '/auth/oauth2/authorize',
    'the consent page',
    async (app) => (await loggedIn(app)).get(await consentOf(app, 'consent')),
  ],
  ['the redirect of the root path', '/', 'a redirect or the script', async (app) => app.browser().get('/')],
  ['the front page', '/auth', 'the front page', async (app) => (await loggedIn(app)).get('/auth/')],
  ['the device page', '/auth/device', 'a page', async (app) => (await loggedIn(app)).get('/auth/device')],
  [
    'the list of connected applications',
    '/auth/apps',
    'a page',
    async (app) => (await connected(app)).browser.get('/auth/apps'),
  ],
  [
    'the page that confirms the revocation of one application',
    '/auth/apps/revoke',
    'a page',
    async (app) => {
      const { browser, clientId } = await connected(app);
      return browser.get(`/auth/apps/revoke?client_id=${clientId}`);
    },
  ],
  [
    'the page that confirms the revocation of all applications',
    '/auth/apps/revoke-all',
    'a page',
    async (app) => (await connected(app)).browser.get('/auth/apps/revoke-all'),
  ],
  [
    'a logo',
    '/auth/logos/:digest',
    'a logo',
    async (app) => {
      const { logo } = await app.client({ logo: { mediaType: 'image/png', image: randomBytes(100) } });
      return app.browser().get(`/auth/logos/${logo}`);
    },
  ],
  [
    "the product's icon",
    '/auth/brand/:name',
    "the product's logo or icon",
    async (app) => app.browser().get(imageUrl(app.brand.icon)),
  ],
  ['the error reference', '/auth/errors', 'a page', async (app) => app.browser().get('/auth/errors')],
  ['the script', SCRIPT_PATH, 'a redirect or the script', async (app) => app.browser().get(SCRIPT_PATH)],
  [
    'a redirect to the login page',
    null,
    'a redirect or the script',
    async (app) => app.browser().get(await consentOf(app, '')),
  ],
  [
    'a redirected error',
    null,
    'a redirect or the script',
    async (app) => app.browser().get(`${await consentOf(app, '')}&scope=x`),
  ],
  [
    'a posted error',
    null,
    'a posted response',
    async (app) => app.browser().get(`${await consentOf(app, '')}&scope=x&response_mode=form_post`),
  ],
  [
    'the page after a form',
    null,
    'a page',
    async (app) => {
      const browser = app.browser();
      const { email } = await app.user();
      return browser.submit(await browser.get('/auth/login'), { username: email, password: PASSWORD });
    },
  ],
  ['an error page', null, 'a page', async (app) => app.browser().get('/auth/oauth2/authorize')],
  [
    'the error page for a rejected form',
    null,
    'a page',
    async (app) => app.browser().post('/auth/login', {}),
  ],
  ['the error page for an unknown path', null, 'a page', async (app) => app.browser().get('/nothing')],
  [
    'the error page for an unsupported method',
    '/auth/logout',
    'a page',
    async (app) => app.browser().get('/auth/logout'),
  ],
  [
    'the error page for a body that is not a form',
    null,
    'a page',
    async (app) => app.browser().post('/auth/login', {}, { 'Content-Type': 'text/plain' }),
  ],
  [
    'the error page for a form that is too large',
    null,
    'a page',
    async (app) => app.browser().post('/auth/login', { username: 'x'.repeat(70_000) }),
  ],
  ['the error page for a malformed HTTP request', null, 'a page', malformed],
];

export function routesOf(configuration: AuthorizeConfiguration, method: RequestMethod): string[] {
  const { imports = [], controllers: own = [] } = AppModule.forRoot(configuration);
  const ofFeatures = imports.flatMap(
    (module): Type[] => Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? [],
  );
  const controllers = [...own, ...ofFeatures];
  return controllers.flatMap((controller) => {
    const prefix = String(Reflect.getMetadata(PATH_METADATA, controller));
    const prototype = (controller as Type<object>).prototype as Record<string, object>;
    return Object.getOwnPropertyNames(prototype)
      .map((name) => prototype[name] ?? {})
      .filter((handler) => Reflect.getMetadata(METHOD_METADATA, handler) === method)
      .flatMap((handler) => [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat())
      .map((path) => `/${prefix}/${path}`.replaceAll(/\/+/g, '/'))
      .map((path) => (path === '/' ? path : path.replace(/\/$/, '')));
  });
}
