import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { PATIENT_MS, SCOPES } from '#test/support/app-settings.js';
import { html } from '#ui/html.js';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import { ConfigurationError } from '#platform/configuration/load-configuration.js';
import { Translator } from '../../src/ui/i18n/language.service.js';
import {
  authorizeAddress,
  type AuthorizeApp,
  REDIRECT_URI,
  redirectParameters,
  startAuthorizeApp,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { authorizeApp } from '../../src/app.module.js';
import { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';

describe('scope', () => {
  const AUTHORIZE = '/auth/oauth2/authorize';
  const textOf = (scope: string) => html`${new Translator('en', 'en', SCOPES).scope(scope).text}`.text;

  const { app, user } = useAuthorizeApp();

  /** Returns the granted scope, or the error code. */
  async function allowed(scopes: readonly string[], scope?: string): Promise<string | undefined> {
    const { clientId } = await app.client({ scopes });
    const browser = await app.loggedIn(user);
    const page = await browser.get(
      authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's', scope }),
    );
    if (page.status === 303) return redirectParameters(page.headers['location'])['error'];
    for (const token of scopes) expect(page.text.includes(textOf(token))).toBe(true);
    await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
    const [record] = await grantsOf(clientId);
    return record?.scope;
  }

  async function grantsOf(clientId: string): Promise<{ scope: string }[]> {
    const database = await databaseDataSource(
      app.services.databaseUrl,
      requestLimits(PATIENT_MS),
    ).initialize();
    try {
      return await database.query('SELECT scope FROM grants WHERE client_id = $1', [clientId]);
    } finally {
      await database.destroy();
    }
  }

  describe('the scope of an authorization request', () => {
    it.each([
      // @rfc 6749 3.3
      ['profile:read if none is requested', ['profile:read'], undefined, 'profile:read'],
      [
        'every registered scope if none is requested and profile:read is not registered',
        ['bookings:read', 'schedules:read'],
        undefined,
        'bookings:read schedules:read',
      ],
      [
        'the requested scope, in the requested order without duplicates',
        ['profile:read', 'bookings:read'],
        'bookings:read profile:read bookings:read',
        'bookings:read profile:read',
      ],
      // @deviation D5
      [
        'the requested scope separated by commas (known deviation)',
        ['profile:read', 'bookings:read'],
        'bookings:read,profile:read',
        'bookings:read profile:read',
      ],
    ])('is %s, and the consent page describes it', async (_case, registered, scope, granted) => {
      expect(await allowed(registered, scope)).toBe(granted);
    });

    // @rfc 6749 3.3 @openid core 3.1.2.1 @rfc 9700 2.3
    it.each([
      ['unknown', 'profile:read offline_access phone groups'],
      ['not registered for the client', 'openid bookings:write profile:read'],
      ['in another case', 'Bookings:Write profile:read PROFILE:READ'],
    ])('is granted without the scopes that are %s', async (_case, scope) => {
      expect(await allowed(['profile:read'], scope)).toBe('profile:read');
    });

    // @rfc 6749 3.3
    it.each([
      ['nothing else is requested', 'offline_access'],
      ['no requested scope is registered for the client', 'openid bookings:write'],
      ['a scope is malformed', 'profile:read a"b'],
    ])('is rejected as invalid_scope if %s (RFC 6749 4.1.2.1)', async (_case, scope) => {
      expect(await allowed(['profile:read'], scope)).toBe('invalid_scope');
    });

    // @rfc 6750 5.3
    it('is shown on the consent page without the other scopes of the client', async () => {
      const { clientId } = await app.client({ scopes: ['profile:read', 'bookings:write'] });
      const browser = await app.loggedIn(user);
      const parameters = {
        client_id: clientId,
        redirect_uri: REDIRECT_URI,
        state: 's',
        scope: 'bookings:write',
      };
      const page = await browser.get(authorizeAddress(parameters));
      expect(page.text).toContain(textOf('bookings:write'));
      expect(page.text).not.toContain(textOf('profile:read'));
    });
  });

  describe('a client that is deleted while the consent page is open', () => {
    it('gets no code and no grant, and the user sees an error page', async () => {
      const { clientId } = await app.client();
      const browser = await app.loggedIn(user);
      const page = await browser.get(
        authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' }),
      );
      const database = await databaseDataSource(
        app.services.databaseUrl,
        requestLimits(PATIENT_MS),
      ).initialize();
      await new ClientRegistrationStore(database).delete(clientId);
      await database.destroy();
      const answer = await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
      expect(answer.status).toBe(400);
      expect(answer.headers['location']).toBeUndefined();
      expect(await grantsOf(clientId)).toEqual([]);
    });
  });
});

describe('scope file', () => {
  const NOTES = `
scopes:
  - name: notes:read
    access: read
    default: true
    text: { en: Read your notes, de: Ihre Notizen lesen }
  - name: notes:write
    resource: https://files.example.com
    text: { en: Change your <notes> }
`;

  let folder: string;
  let app: AuthorizeApp;
  let client: Client;
  let user: User;
  const warnings: unknown[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scopes-'));
    await writeFile(join(folder, 'notes.yaml'), NOTES);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation((line) => void warnings.push(line));
    app = await startAuthorizeApp({
      SCOPES_FILE: join(folder, 'notes.yaml'),
      OTHER_API_URLS: 'https://files.example.com',
    });
    warn.mockRestore();
    // Simulates a registration from before profile:read was removed.
    client = await app.client({ scopes: ['notes:write', 'notes:read', 'profile:read'] });
    user = await app.user();
  });

  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const address = (more: Readonly<Record<string, string>> = {}, { clientId } = client) =>
    authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's', ...more });

  describe("a product's scope file", () => {
    it('provides the texts of the consent page, with English in place of missing texts', async () => {
      const page = await (
        await app.loggedIn(user)
      ).get(address({ scope: 'notes:read notes:write', ui_locales: 'de' }));
      expect(page.text).toContain('Ihre Notizen lesen <small>Lesezugriff</small>');
      expect(page.text).toContain('<span lang="en" dir="ltr">Change your &lt;notes&gt;</span>');
    });

    it('causes one warning at startup that lists all missing translations', () => {
      const about = warnings.filter((line) => String(line).includes('notes'));
      expect(about).toEqual([
        expect.stringMatching(/notes:read \(fr, es, pt, ja, ar\), notes:write \(de, fr,/),
      ]);
    });

    it('determines the icon and the text for read and write access', async () => {
      const both = await app.client({ scopes: ['notes:read', 'notes:write'] });
      const { text } = await (
        await app.loggedIn(user)
      ).get(address({ scope: 'notes:read notes:write' }, both));
      expect(text).toMatch(
        /class="mark read"[^>]*aria-hidden="true">[^]*?Read your notes <small>Read access</,
      );
      expect(text).toMatch(
        /class="mark write"[^>]*aria-hidden="true">[^]*?Change your [^ ]* <small>Write access</,
      );
    });

    // @rfc 6749 3.3
    it('defines the default scope of a request, limited to the registered scopes of the client', async () => {
      const page = await (await app.loggedIn(user)).get(address());
      expect(page.text).toContain('Read your notes <small>');
      expect(page.text).not.toContain('Change your');
      const other = await app.client({ scopes: ['notes:write', 'profile:read'] });
      const more = await (await app.loggedIn(user)).get(address({}, other));
      expect(more.text).toContain('Change your &lt;notes&gt;');
      expect(more.text).not.toContain('profile:read');
    });

    it('makes a request for removed scopes only fail with invalid_scope', async () => {
      const { status, headers } = await app.browser().get(address({ scope: 'profile:read' }));
      expect([status, redirectParameters(headers['location'])['error']]).toEqual([303, 'invalid_scope']);
    });

    it('makes a request fail with invalid_scope if all scopes of the client were removed', async () => {
      const old = await app.client({ scopes: ['profile:read'] });
      const { headers } = await app.browser().get(address({}, old));
      expect(redirectParameters(headers['location'])['error']).toBe('invalid_scope');
    });

    it('may omit a granted scope without affecting consent to other scopes', async () => {
      const person = await app.user();
      const browser = await app.loggedIn(person);
      const page = await browser.get(address({ scope: 'notes:read' }));
      await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
      // Simulates consent from before profile:read was removed.
      const both = 'profile:read notes:read';
      await app.sql('UPDATE grants SET scope = $1, requested_scope = $1 WHERE user_id = $2', [
        both,
        person.id,
      ]);
      const apps = await browser.get('/auth/apps');
      expect(apps.status).toBe(200);
      expect(apps.text.indexOf('<li>Read your notes</li>')).toBeGreaterThan(0);
      expect(apps.text.indexOf('<li><code>profile:read</code></li>')).toBeGreaterThan(
        apps.text.indexOf('<li>Read your notes</li>'),
      );
      const again = await browser.get(address({ scope: 'notes:read' }));
      expect(redirectParameters(again.headers['location'])['code']).toMatch(/^sac_/);
    });

    it('is rejected at startup with a list of all problems', async () => {
      const file = join(folder, 'wrong.yaml');
      await writeFile(file, 'scopes: [{ name: a b, text: { en: A } }, { name: c, text: {} }]');
      const start = (SCOPES_FILE: string) => () =>
        authorizeApp(Object.assign(new AuthorizeConfiguration(), app.configuration, { SCOPES_FILE }));
      expect(start(file)).toThrow(ConfigurationError);
      expect(start(file)).toThrow(
        `SCOPES_FILE ${file}: scope 1: its name must be 1 to 100 printable ASCII characters without space, comma, " and \\ (RFC 6749 3.3)\n` +
          `  - SCOPES_FILE ${file}: c: it has no English text: give "en"`,
      );
      expect(start(join(folder, 'none.yaml'))).toThrow(/SCOPES_FILE .*none\.yaml: ENOENT/);
    });
  });
});
