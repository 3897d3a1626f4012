import type {
  Browser,
  Browser as Chromium,
  BrowserContext,
  BrowserContextOptions,
  Page,
} from 'playwright-core';
import { connect } from '@nats-io/transport-node';
import { AXE, findingsEverywhere, launchBrowser, tabTo } from '#test/support/chromium.js';
import { auditEvent } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { hashPassword } from '#users/password.js';
import { freePort } from '#local/servers/free-port.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type ConsoleScenes, openConsoleScenes } from './support/console-scenes.js';
import { type ConsoleApp, startConsoleApp } from './support/start-console-app.js';
import { storeClientWithSecret } from '#test/support/stored.js';
import { stateOf, storeRequest } from './support/stored-request.js';

describe('accessibility', () => {
  let chromium: Browser;
  let console: ConsoleScenes;

  beforeAll(async () => {
    [chromium, console] = await Promise.all([launchBrowser(), openConsoleScenes()]);
  });

  afterAll(async () => {
    await chromium?.close();
    await console?.close();
  });

  it('every page passes axe at desktop and phone width, in light and dark mode', async () => {
    const found: Record<string, string[]> = {};
    const page = await chromium.newPage({ locale: 'en' });
    await page.addInitScript({ content: AXE });
    for (const [name, open] of Object.entries(console.scenes)) {
      await console.logIn(page);
      await open(page);
      // The only frame shows a page of authorize, which has a separate test.
      found[name] = await findingsEverywhere(page, ['frame-tested']);
    }
    await page.close();
    expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([]);
  }, 1_200_000);
});

describe('keyboard', () => {
  const REDIRECT_URI = 'https://rooms.example.com/callback';

  let app: ConsoleApp;
  let chromium: Chromium;
  let origin: string;

  beforeAll(async () => {
    const PORT = await freePort();
    origin = `http://127.0.0.1:${PORT}`;
    app = await startConsoleApp({ PORT, CONSOLE_URL: origin });
    chromium = await launchBrowser();
  });

  afterAll(async () => {
    await chromium?.close();
    await app?.close();
  });

  /** Opens a tab in which an admin is logged in, by default without JavaScript. */
  async function adminTab(
    name = 'ada',
    options: BrowserContextOptions = { javaScriptEnabled: false },
  ): Promise<{ page: Page; context: BrowserContext }> {
    const { cookies } = await app.operator('admin', name);
    const context = await chromium.newContext({ locale: 'en', ...options });
    await context.addCookies([...cookies].map(([cookie, value]) => ({ name: cookie, value, url: origin })));
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    return { page, context };
  }

  async function activate(page: Page, name: string): Promise<void> {
    await tabTo(page, name);
    await Promise.all([page.waitForEvent('domcontentloaded'), page.keyboard.press('Enter')]);
  }

  async function type(page: Page, field: string, text: string): Promise<void> {
    await tabTo(page, field);
    await page.keyboard.type(text);
  }

  const textOf = (page: Page): Promise<string> => page.locator('main').innerText();

  const application = async (letter: string): Promise<string> => {
    const id = `sc_${letter.repeat(24)}`;
    await storeClientWithSecret(app, id, { redirectUri: REDIRECT_URI });
    return id;
  };

  /** Tasks of docs/operate.md, except tasks with files in git. */
  describe('an operator with only a keyboard and no JavaScript', () => {
    it('registers a client and opens the instructions for its owner', async () => {
      const { page, context } = await adminTab();
      await page.goto(`${origin}/applications`);
      await activate(page, 'New application');
      await type(page, 'name', 'Room Finder');
      await activate(page, 'Next');
      await tabTo(page, 'kind');
      await activate(page, 'Next');
      await type(page, 'redirectUris', REDIRECT_URI);
      await activate(page, 'Next');
      await tabTo(page, 'scope:profile:read');
      await page.keyboard.press('ArrowDown');
      await activate(page, 'Next');
      await activate(page, 'Next');
      await activate(page, 'Create the application');
      expect(await textOf(page)).toMatch(/scs_[\w-]{43}/);
      const [id = ''] = /sc_[a-z2-7]{24}/.exec(await textOf(page)) ?? [];
      await activate(page, 'Go to the application');
      await activate(page, 'Instructions for the owner');
      expect(await textOf(page)).toContain(id);
      await context.close();
    });

    it('creates a new secret and revokes the old secret', async () => {
      const { page, context } = await adminTab();
      const id = await application('a');
      await page.goto(`${origin}/applications/${id}`);
      await activate(page, 'New secret');
      await activate(page, 'Create the secret');
      expect(await textOf(page)).toMatch(/scs_[\w-]{43}/);
      await page.goto(`${origin}/applications/${id}`);
      await activate(page, 'Revoke');
      await activate(page, 'Revoke');
      const sql =
        'SELECT revoked_at IS NULL AS live FROM client_secrets WHERE client_id = $1 ORDER BY created_at';
      expect(await app.sql(sql, [id])).toEqual([{ live: false }, { live: true }]);
      await context.close();
    });

    it('finds the reason for a refused request, and disables and deletes the application', async () => {
      const { page, context } = await adminTab();
      const id = await application('b');
      const nats = await connect(natsOptions(app.services.natsUrl, 'keyboard test'));
      await storeEvent(
        nats,
        auditEvent('token', {
          type: 'request.refused',
          client_id: id,
          reference: 'keyboardtest',
          status: 400,
          error: 'invalid_grant',
          check: 'redirect_uri_mismatch',
          detail: { sent: `${REDIRECT_URI}/`, expected: REDIRECT_URI },
        }),
      );
      await nats.close();
      await page.goto(`${origin}/events`);
      await type(page, 'reference', 'error_reference=keyboardtest');
      await activate(page, 'Explain');
      expect(await textOf(page)).toContain('redirect_uri_mismatch');
      await page.goto(`${origin}/applications/${id}`);
      await activate(page, 'Disable');
      await activate(page, 'Disable');
      expect(await textOf(page)).toContain('The application is disabled');
      await activate(page, 'Delete');
      await activate(page, 'Delete');
      const sql = 'SELECT deleted_at IS NOT NULL AS deleted FROM clients WHERE client_id = $1';
      expect(await app.sql(sql, [id])).toEqual([{ deleted: true }]);
      await context.close();
    });

    it('logs a user out and finds the log-out in the audit trail', async () => {
      const { page, context } = await adminTab('grace');
      const [username, email, name] = ['alan', 'alan@example.com', 'Alan Turing'];
      await app.users.create({ username, email, name, passwordHash: await hashPassword('x'.repeat(20)) });
      await page.goto(`${origin}/users`);
      await type(page, 'search', email);
      await activate(page, 'Search');
      await activate(page, name);
      await activate(page, 'Log out everywhere');
      await page.goto(`${origin}/audit`);
      await type(page, 'operator', 'grace');
      await activate(page, 'Search');
      expect(await textOf(page)).toContain('grace');
      await context.close();
    });

    it('asks an owner, and approves the request, on a page 375 px wide', async () => {
      const { page, context } = await adminTab('ada', {
        javaScriptEnabled: false,
        viewport: { width: 375, height: 800 },
      });
      const request = await storeRequest(app, { name: 'Notes with an owner' });
      await page.goto(`${origin}/requests`);
      await activate(page, 'Notes with an owner');
      await activate(page, 'Ask the owner');
      await type(page, 'text', 'Who runs elsewhere.example?');
      await activate(page, 'Send');
      expect(await textOf(page)).toContain('Who runs elsewhere.example?');
      expect(await page.locator('html').evaluate((root) => root.scrollWidth)).toBe(375);
      await activate(page, 'Approve');
      await activate(page, 'Approve');
      expect(await textOf(page)).toContain('The request is approved.');
      expect((await stateOf(app, request))?.stage).toBe('live');
      await context.close();
    });

    it('checks the installation and opens the key rotation', async () => {
      const { page, context } = await adminTab();
      await page.goto(`${origin}/health`);
      await activate(page, 'Check now');
      while ((await textOf(page)).includes('A check is running')) await activate(page, 'Show the result');
      expect(await textOf(page)).toContain('Findings, the most severe first');
      await activate(page, 'Rotate keys');
      expect(await textOf(page)).toContain('ID token keys');
      await context.close();
    });
  });

  describe('the button that copies a new secret', () => {
    it.each([
      ['copies it to the clipboard', true],
      ['is absent without JavaScript, and a click selects the secret', false],
    ])('%s', async (_, javaScriptEnabled) => {
      const { page, context } = await adminTab('ada', { javaScriptEnabled });
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
      const id = await application(javaScriptEnabled ? 'c' : 'd');
      await page.goto(`${origin}/applications/${id}/secrets/new`);
      await activate(page, 'Create the secret');
      const [button, secret] = [page.locator('[data-copies=secret]'), page.locator('#secret')];
      if (javaScriptEnabled) {
        await button.click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await secret.innerText());
      } else {
        expect(await button.isVisible()).toBe(false);
        expect(await secret.evaluate((element) => getComputedStyle(element).userSelect)).toBe('all');
      }
      await context.close();
    });
  });

  it('the second of two operators who edit an application sees the conflict', async () => {
    const [one, other] = [await adminTab('ada'), await adminTab('grace')];
    const id = await application('e');
    for (const [{ page }, addition] of [
      [one, ' of ada'],
      [other, ' of grace'],
    ] as const) {
      await page.goto(`${origin}/applications/${id}/edit`);
      await tabTo(page, 'name');
      await page.keyboard.type(addition);
      await activate(page, 'Review changes');
    }
    await activate(one.page, 'Save');
    expect(await textOf(one.page)).toContain('The changes are saved.');
    await activate(other.page, 'Save');
    expect(await textOf(other.page)).toMatch(/has changed/);
    await Promise.all([one.context.close(), other.context.close()]);
  });
});
