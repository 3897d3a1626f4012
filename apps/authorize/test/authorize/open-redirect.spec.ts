import fc from 'fast-check';
import { authorizeAddress, PASSWORD, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';
import type { Browser } from '#test/support/browser.js';

const { app, client, user } = useAuthorizeApp();
let visitor: Browser;

beforeAll(async () => {
  visitor = await app.loggedIn(user);
});

const PATHS = [
  '/auth',
  '/auth/',
  '/auth/login',
  '/auth/logout',
  '/auth/apps',
  '/auth/apps/revoke',
  '/auth/oauth2/authorize',
] as const;

const EVIL = [
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  `${REDIRECT_URI}.evil.example`,
  'https://app.example.com@evil.example/callback?tenant=7&x=%2F',
  `https://evil.example/${REDIRECT_URI}`,
  REDIRECT_URI,
  'apps',
  '/auth/apps',
  '\r\nLocation: https://evil.example',
];

const NAMES = [
  'redirect_uri',
  'to',
  'next',
  'return_to',
  'state',
  'prompt',
  'done',
  'request_uri',
  'ui_locales',
  'scope',
  'x\r\ny',
];

const query = () =>
  fc
    .array(
      fc.tuple(
        fc.constantFrom(...NAMES),
        fc.oneof(
          fc.constantFrom(...EVIL),
          fc.constantFrom('none', 'login', 's'),
          fc.string({ unit: 'binary' }),
        ),
      ),
      { maxLength: 10 },
    )
    .map((pairs) => new URLSearchParams(pairs).toString());

const rawText = () => fc.stringMatching(/^[&=/\\:.?%@#;+evilhtps[\]"<>]{0,20}$/);

const slashes = () =>
  fc.array(
    fc.constantFrom('/', '//', '\\', '%2f', '%5c', '..', '.', ';', '@', 'evil.example', 'auth', 'login'),
    {
      minLength: 1,
      maxLength: 8,
    },
  );

/** Relative URL that no browser interprets as another host. */
const OWN_PATH = /^\/auth(?:\/[a-z0-9-]+)*\/?(?:\?[!"$-~]*)?$/;
const isOwnPath = (location: string) =>
  OWN_PATH.test(location) && new URL(location, 'http://localhost:3001').origin === 'http://localhost:3001';

const expectSafe = (location: string | undefined) => {
  if (location === undefined) return;
  expect({ location, safe: isOwnPath(location) || location.startsWith(`${REDIRECT_URI}&`) }).toMatchObject({
    safe: true,
  });
};

it.each([
  ['logged out', () => app.browser()],
  ['logged in', () => visitor],
])('no query redirects to another site, except to a registered redirect URI: %s', async (_who, browser) => {
  await fc.assert(
    fc.asyncProperty(
      // Generates the login page more often, because its query selects the next page.
      fc.oneof(fc.constant('/auth/login'), fc.constantFrom(...PATHS)),
      fc.boolean(),
      fc.oneof(query(), rawText()),
      async (path, known, text) => {
        const prefix = known ? `client_id=${client.clientId}&` : '';
        const url = `${path}?${prefix}${text}`
          .replaceAll(/[^!-~]/g, encodeURIComponent)
          .replaceAll('#', '%23');
        const { headers } = await browser().get(url);
        expectSafe(headers['location']);
      },
    ),
    { numRuns: 250, endOnFailure: true },
  );
});

it('no path redirects to another site', async () => {
  await fc.assert(
    fc.asyncProperty(slashes(), async (parts) => {
      const { headers } = await visitor.get(`/${parts.join('')}`);
      expectSafe(headers['location']);
    }),
    { numRuns: 200, endOnFailure: true },
  );
});

it('no login or logout redirects to another site', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(query(), rawText()), async (text) => {
      const browser = app.browser();
      const url = text.replaceAll(/[^!-~]/g, encodeURIComponent).replaceAll('#', '%23');
      const login = await browser.get(`/auth/login?${url}`);
      const fields = { username: user.email, password: PASSWORD };
      const entered = await browser.submit(login, fields, '/auth/login');
      const logout = formsOf((await browser.get('/auth/')).text).find(
        ({ action }) => action === '/auth/logout',
      );
      const left = await browser.post(`/auth/logout?${url}`, { ...logout?.hidden });
      for (const { status, headers } of [entered, left]) {
        expect(status).toBe(303);
        expectSafe(headers['location']);
      }
    }),
    { numRuns: 40, endOnFailure: true },
  );
});

it('these fuzz tests include responses to the application, and detect unsafe redirects', async () => {
  const { headers } = await visitor.get(
    authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's', prompt: 'none' }),
  );
  expect(headers['location']).toMatch(
    /^https:\/\/app\.example\.com\/callback\?tenant=7&x=%2F&error=consent_required/,
  );
  for (const bad of EVIL.filter((value) => !['/auth/apps', REDIRECT_URI].includes(value)))
    expect(isOwnPath(bad)).toBe(false);
  for (const bad of ['/auth//evil.example', '//auth', '/auth/\\evil.example'])
    expect(isOwnPath(bad)).toBe(false);
});
