import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import type { Browser as Chromium, BrowserContextOptions, Page } from 'playwright-core';
import { auditEvent, type AuditRecord } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { freePort } from '#local/servers/free-port.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { openFixture } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import { startConsoleApp } from './console-app.js';

/** Opens a page of the console in one of its states. */
type Scene = (page: Page) => Promise<void>;

const REDIRECT_URI = 'https://rooms.example.com/oauth/callback';
const PROGRAM = 'sc_programprogramprogrampro';
const REFUSED: AuditRecord = {
  type: 'request.refused',
  reference: 'scenescenesc',
  status: 400,
  error: 'invalid_grant',
  check: 'redirect_uri_mismatch',
  detail: { sent: `${REDIRECT_URI}/`, expected: REDIRECT_URI },
};

/** Starts a console with applications, users and events, and describes its pages in their states. */
export async function openConsoleScenes() {
  const services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  const settings = { ...appSettings(services), LOG_LEVEL: 'fatal', TOKEN_KEYS };
  const processes = [await startApp('authorize', settings), await startApp('token', settings)];
  const fixture = await openFixture(services, TOKEN_KEYS);
  const PORT = await freePort();
  const origin = `http://127.0.0.1:${PORT}`;
  const app = await startConsoleApp({ PORT, CONSOLE_URL: origin }, services);

  const [client, disabled] = [await fixture.client(), await fixture.client()];
  const [id, userId] = [client.client_id, await fixture.user()];
  for (let count = 0; count < 2; count++) await fixture.code(id, userId);
  await app.sql('UPDATE clients SET disabled_at = now() WHERE client_id = $1', [disabled.client_id]);
  await app.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes, grant_type, jwks_uri, require_state)
     VALUES ($1, 'Terraform', 'confidential', '{}', '{admin:read}', 'client_credentials', 'https://terraform.example.com/jwks', false)`,
    [PROGRAM],
  );
  const nats = await connect(natsOptions(services.natsUrl, 'console scenes'));
  const store = (record: AuditRecord, time = new Date()) =>
    storeEvent(nats, auditEvent('token', { client_id: id, user_id: userId, ...record }, time));
  for (let hours = 20; hours > 0; hours--) {
    const time = new Date(Date.now() - hours * 3_600_000);
    await store({ type: 'token.issued' }, time);
    if (hours % 3 === 0)
      await store({ ...REFUSED, reference: `scene-${String(hours).padStart(6, '0')}` }, time);
  }
  await store({
    type: 'token.reuse_detected',
    error: 'invalid_grant',
    check: 'refresh_token_reused',
    reference: 'reusedreused',
  });
  await store(REFUSED);
  await nats.close();

  const path = `/applications/${id}`;
  const at =
    (address: string): Scene =>
    async (page) => {
      await page.goto(origin + address);
    };
  const press = async (page: Page, name: string) => {
    await page.locator('main').getByRole('button', { name, exact: true }).first().click();
    await page.waitForLoadState();
  };
  /** Answers the steps of a new application, to the last one. */
  const newApplication = async (page: Page, redirectUri = REDIRECT_URI) => {
    await page.goto(`${origin}/applications/new`);
    await page.locator('[name=name]').fill('Room Finder');
    await press(page, 'Next');
    await press(page, 'Next');
    await page.locator('[name=redirectUris]').fill(redirectUri);
    await press(page, 'Next');
  };

  const scenes: Readonly<Record<string, Scene>> = {
    applications: at('/applications'),
    'applications, none found': at('/applications?search=nobody'),
    application: at(path),
    'application, disabled': at(`/applications/${disabled.client_id}`),
    'application, a program': at(`/applications/${PROGRAM}`),
    'application, edit': at(`${path}/edit`),
    'application, edit a program': at(`/applications/${PROGRAM}/edit`),
    'application, changes': async (page) => {
      await page.goto(`${origin}${path}/edit`);
      await page.locator('[name=redirectUris]').fill(`${REDIRECT_URI}?a=1`);
      await press(page, 'Review changes');
    },
    'application, saved': async (page) => {
      await page.goto(`${origin}${path}/edit`);
      await page.locator('[name=contacts]').fill(`dev${randomBytes(4).toString('hex')}@rooms.example.com`);
      await press(page, 'Review changes');
      await press(page, 'Save');
    },
    'application, delete': at(`${path}/delete`),
    'application, new secret': at(`${path}/secrets/new`),
    'application, logo': at(`${path}/logo`),
    'application, text for the owner': at(`${path}/handover`),
    'application, consent page': at(`${path}/consent`),
    'application, unknown': at('/applications/nobody'),
    'new application': at('/applications/new'),
    'new application, where it runs': async (page) => {
      await page.goto(`${origin}/applications/new`);
      await page.locator('[name=name]').fill('Room Finder');
      await press(page, 'Next');
    },
    'new application, problem': (page) => newApplication(page, 'http://rooms.example.com/callback'),
    'new application, permissions': (page) => newApplication(page),
    'new application, profile': async (page) => {
      await newApplication(page);
      await page.locator('select').first().selectOption('required');
      await press(page, 'Next');
    },
    'new application, registered': async (page) => {
      await newApplication(page);
      await page.locator('select').first().selectOption('required');
      await press(page, 'Next');
      await press(page, 'Create the application');
    },
    users: at('/users'),
    user: at(`/users/${userId}`),
    'user, delete': at(`/users/${userId}/delete`),
    'grants of an application': at(`/grants?client=${id}`),
    'bulk actions': at('/jobs'),
    'bulk action, confirmation': at(`/jobs/new?action=enable-applications&id=${id}&id=${disabled.client_id}`),
    'bulk action, done': async (page) => {
      await page.goto(`${origin}/jobs/new?action=log-out-users&id=${userId}`);
      await press(page, 'Log out');
      await page.getByText('finished', { exact: true }).waitFor();
    },
    'what happened': at('/events'),
    'what happened, explanation': at('/events?reference=scenescenesc'),
    'what happened, reuse': at('/events?reference=reusedreused'),
    'what happened, unknown reference': at('/events?reference=unknown-1234'),
    'what happened, by hour': at(`/events?client=${id}&period=23h`),
    'what happened, by day': at(`/events?client=${id}&period=29d`),
    audit: at('/audit'),
    'audit, unknown application': at('/audit?client=nobody'),
    health: at('/health'),
    'health, checked': async (page) => {
      await page.goto(`${origin}/health`);
      await press(page, 'Check now');
      while ((await page.locator('main').innerText()).includes('A check is running'))
        await page.goto(`${origin}/health`);
    },
    keys: at('/health/keys'),
    'logged out': async (page) => {
      await page.goto(`${origin}/users`);
      await page.getByRole('navigation').getByRole('button').click();
      await page.waitForLoadState();
    },
  };

  return {
    scenes,

    /** Opens a tab in which an admin has just logged in. */
    async tab(chromium: Chromium, options: BrowserContextOptions): Promise<Page> {
      const { cookies } = await app.operator('admin');
      await app.redis.del('none', ...(await app.redis.keys('console:rate:*')));
      const context = await chromium.newContext({ locale: 'en', ...options });
      await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin })));
      return context.newPage();
    },

    async close(): Promise<void> {
      await app.close();
      for (const running of processes) await running.stop();
      await fixture.close();
      await services.close();
    },
  };
}

export type ConsoleScenes = Awaited<ReturnType<typeof openConsoleScenes>>;
