import type { Page } from 'playwright-core';
import type { User } from '#users/user.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { formPostPage } from '../../../src/authorize/form-post.page.js';
import { incompletePage } from '../../../src/connected-apps/revoke.page.js';
import { confirmLogoutPage } from '../../../src/logout/logout.page.js';
import { continuationPage } from '../../../src/ui/components.js';
import { Translator } from '../../../src/ui/i18n/language.service.js';
import { PASSWORD, PKCE } from '../../support/start-authorize-app.js';
import { tryLogin } from '../../support/throttle-guesser.js';
import { waitingDevice } from '../../support/waiting-device.js';
import { ERROR_SCENES, REFERENCE } from './error-scenes.js';
import type { Scene } from './scene.js';
import { show } from './show.js';
import type { SceneFixture } from './scene-fixture.js';

const noUser = () => null;
const ada = ({ people }: SceneFixture) => people.ada;
const grace = ({ people }: SceneFixture) => people.grace;
const long = ({ people }: SceneFixture) => people.long;

const ALL = 'profile:read schedules:read schedules:write bookings:read bookings:write';

async function logIn(page: Page, { email }: User, password = PASSWORD): Promise<void> {
  await page.locator('#username').fill(email);
  await page.locator('#password').fill(password);
  await page.locator('#password').press('Enter');
}

/** Pages in their visually different states; error-scenes.ts contains the error pages. */
const LOGOUT_REFUSED = OAuthError.invalidRequest('post_logout_redirect_uri_unregistered', {
  detail: {
    client_id: 'sc_3q2-7wAAAAAAAAAAAAAAAA',
    post_logout_redirect_uri: 'https://calendar-connect.example/bye',
  },
});

export const SCENES: readonly Scene[] = [
  {
    name: 'login',
    visitor: noUser,
    open: (page, { app }) => page.goto(`${app.url}/auth/login`),
  },
  {
    name: 'login-for-application',
    visitor: noUser,
    open: (page, { request, clients }) => page.goto(request(clients.calendar, 'profile:read')),
  },
  {
    name: 'login-wrong',
    visitor: noUser,
    async open(page, { request, clients, people }) {
      await page.goto(request(clients.calendar, 'profile:read'));
      await logIn(page, people.ada, 'wrong');
      await page.locator('#problem').waitFor();
    },
  },
  {
    name: 'login-disabled',
    visitor: noUser,
    async open(page, { app, people }) {
      await page.goto(`${app.url}/auth/login`);
      await logIn(page, people.joan);
      await page.locator('#problem').waitFor();
    },
  },
  {
    name: 'login-throttled',
    visitor: noUser,
    async open(page, { app, people }) {
      const from = `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}::1`;
      const failures = Array.from({ length: 5 }, () => tryLogin(app, { username: people.long.email, from }));
      await Promise.all(failures);
      await page.context().setExtraHTTPHeaders({ 'X-Forwarded-For': from });
      await page.goto(`${app.url}/auth/login`);
      await logIn(page, people.long, 'wrong');
      await page.locator('#problem').waitFor();
    },
  },
  {
    name: 'login-again',
    visitor: ada,
    open: (page, { request, clients }) =>
      page.goto(request(clients.calendar, 'profile:read', { prompt: 'login' })),
  },
  {
    name: 'login-logged-out-everywhere',
    visitor: ({ people }) => people.alan,
    async open(page, { app }) {
      await page.goto(`${app.url}/auth/`);
      await page.locator('form[action="/auth/logout-everywhere"] button').click();
      await page.getByRole('status').waitFor();
    },
  },
  {
    name: 'consent',
    visitor: ada,
    open: (page, { request, clients }) => page.goto(request(clients.calendar, 'profile:read bookings:read')),
  },
  {
    name: 'consent-choices',
    visitor: ada,
    open: (page, { request, clients }) => page.goto(request(clients.rooms, ALL)),
  },
  {
    name: 'consent-nothing-chosen',
    visitor: ada,
    async open(page, { request, clients }) {
      await page.goto(request(clients.choosy, 'profile:read bookings:read'));
      await page.locator('button[value=allow]').click();
      await page.locator('#problem').waitFor();
    },
  },
  {
    name: 'consent-more',
    visitor: grace,
    open: (page, { request, clients }) => page.goto(request(clients.rooms, ALL)),
  },
  {
    name: 'consent-more-opened',
    visitor: grace,
    async open(page, { request, clients }) {
      await page.goto(request(clients.rooms, ALL));
      await page.locator('summary').click();
    },
  },
  {
    name: 'consent-first-party',
    visitor: ada,
    open: (page, { request, clients }) =>
      page.goto(request(clients.own, 'profile:read schedules:read', { prompt: 'consent' })),
  },
  {
    name: 'consent-device',
    visitor: ada,
    open: (page, { request, clients }) => page.goto(request(clients.pocket, 'profile:read', PKCE)),
  },
  {
    name: 'consent-long',
    visitor: long,
    open: (page, { request, clients }) => page.goto(request(clients.long, ALL, { prompt: 'consent' })),
  },
  {
    name: 'consent-long-word',
    visitor: long,
    open: (page, { request, clients }) => page.goto(request(clients.word, ALL)),
  },
  {
    name: 'device-code',
    visitor: ada,
    open: (page, { app }) => page.goto(`${app.url}/auth/device`),
  },
  {
    name: 'device-compare',
    visitor: ada,
    open: (page, { app }) => page.goto(`${app.url}/auth/device?user_code=WDJB-MJHT`),
  },
  {
    name: 'device-wrong',
    visitor: ada,
    async open(page, { app }) {
      await page.goto(`${app.url}/auth/device`);
      await page.locator('#user_code').fill('1234');
      await page.locator('main form button').click();
      await page.locator('#problem').waitFor();
    },
  },
  {
    name: 'device-consent',
    visitor: ada,
    async open(page, { app, clients }) {
      const { userCode } = await waitingDevice(app, clients.pocket);
      await page.goto(`${app.url}/auth/device?user_code=${userCode}`);
      await page.locator('main form button').click();
      await page.locator('button[value=allow]').waitFor();
    },
  },
  {
    name: 'form-post',
    visitor: noUser,
    open: (page, { app, clients: { calendar } }, locale) =>
      show(
        page,
        app,
        // Omits the script, which would submit the form immediately.
        {
          ...formPostPage(new Translator(locale), {
            redirectUri: 'https://calendar.example.com/callback',
            clientName: calendar.name,
            parameters: [['error', 'access_denied']],
          }),
          script: false,
        },
      ),
  },
  { name: 'account', visitor: ada, open: (page, { app }) => page.goto(`${app.url}/auth/`) },
  {
    name: 'account-language-saved',
    visitor: ada,
    async open(page, { app }) {
      await page.goto(`${app.url}/auth/`);
      await page.locator('form[action="/auth/language"] button').click();
      await page.getByRole('status').waitFor();
    },
  },
  { name: 'account-long', visitor: long, open: (page, { app }) => page.goto(`${app.url}/auth/`) },
  { name: 'apps', visitor: grace, open: (page, { app }) => page.goto(`${app.url}/auth/apps`) },
  { name: 'apps-none', visitor: ada, open: (page, { app }) => page.goto(`${app.url}/auth/apps`) },
  { name: 'apps-long', visitor: long, open: (page, { app }) => page.goto(`${app.url}/auth/apps`) },
  {
    name: 'apps-revoked',
    visitor: grace,
    async open(page, { app, clients, connect }) {
      await page.goto(`${app.url}/auth/apps/revoke?client_id=${clients.calendar.clientId}`);
      await page.locator('main form button').click();
      await page.getByRole('status').waitFor();
      await connect();
    },
  },
  {
    name: 'apps-revoked-all',
    visitor: grace,
    async open(page, { app, connect }) {
      await page.goto(`${app.url}/auth/apps/revoke-all`);
      await page.locator('main form button').click();
      await page.getByRole('status').waitFor();
      await connect();
    },
  },
  ...(['calendar', 'word', 'refused', null] as const).map((about): Scene => ({
    name: `log-out${about === null ? '' : about === 'refused' ? '-refused' : `-for-${about}`}`,
    visitor: noUser,
    open: (page, { app, clients, people }, locale) =>
      show(
        page,
        app,
        confirmLogoutPage({
          translator: new Translator(locale),
          product: 'Scheduling',
          user: about === 'word' ? people.long : people.ada,
          cookie: 'x'.repeat(43),
          client: about && clients[about === 'refused' ? 'calendar' : about],
          query: '',
          refused: about === 'refused' ? LOGOUT_REFUSED : null,
          sent: 'post_logout_redirect_uri=x',
        }),
      ),
  })),
  ...(
    [
      ['site', 'https://calendar-connect.example/callback?code=x', 'Calendar Connect'],
      ['app', 'com.example.pocket:/callback?code=x', 'Pocket Calendar'],
      ['page', '/auth/', null],
    ] as const
  ).map(([name, url, application]): Scene => ({
    name: `continue-to-${name}`,
    visitor: noUser,
    open(page, { app }, locale) {
      const { continuesAt: _stays, ...shown } = continuationPage(new Translator(locale), url, application);
      return show(page, app, shown);
    },
  })),
  {
    name: 'revoke',
    visitor: grace,
    open: (page, { app, clients }) =>
      page.goto(`${app.url}/auth/apps/revoke?client_id=${clients.calendar.clientId}`),
  },
  {
    name: 'revoke-long',
    visitor: long,
    open: (page, { app, clients }) =>
      page.goto(`${app.url}/auth/apps/revoke?client_id=${clients.word.clientId}`),
  },
  {
    name: 'revoke-all',
    visitor: grace,
    open: (page, { app }) => page.goto(`${app.url}/auth/apps/revoke-all`),
  },
  {
    name: 'revoke-unfinished',
    visitor: grace,
    open: (page, { app, clients: { calendar } }, locale) =>
      show(
        page,
        app,
        incompletePage({
          translator: new Translator(locale),
          cookie: 'x',
          clientId: calendar.clientId,
          reference: REFERENCE,
        }),
      ),
  },
  {
    name: 'error-guide',
    visitor: noUser,
    open: (page, { app }) => page.goto(`${app.url}/auth/errors#redirect_uri_unregistered`),
  },
  {
    name: 'error-with-details',
    visitor: noUser,
    async open(page, fixture, locale) {
      await ERROR_SCENES.find(({ name }) => name === 'error-redirect-mismatch')?.open(page, fixture, locale);
      await page.locator('summary').click();
    },
  },
];
