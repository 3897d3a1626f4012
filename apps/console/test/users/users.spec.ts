import { randomBytes } from 'node:crypto';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import type { Browser } from '#test/support/browser.js';
import { openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { type ConsoleApp, startConsoleApp } from '../support/console-app.js';

let services: Isolated;
let token: AppProcess;
let fixture: Awaited<ReturnType<typeof openFixture>>;
let app: ConsoleApp;
let support: Browser;

// A real token app applies the revocations.
beforeAll(async () => {
  services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  token = await startApp('token', { ...appSettings(services), LOG_LEVEL: 'fatal', TOKEN_KEYS });
  fixture = await openFixture(services, TOKEN_KEYS);
  app = await startConsoleApp({}, services);
  support = await app.operator('support');
});

afterAll(async () => {
  await app.close();
  await token.stop();
  await fixture.close();
  await services.close();
});

/** Returns a user who has allowed an application access. */
async function userWithGrant(): Promise<{ userId: number; clientId: string }> {
  const [{ client_id: clientId }, userId] = [await fixture.client(), await fixture.user()];
  await fixture.code(clientId, userId);
  return { userId, clientId };
}

const liveGrants = (userId: number) =>
  app.sql('SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL', [userId]);

it('finds a user by a part of the name or e-mail address', async () => {
  const userId = await fixture.user();
  const [user] = await app.sql<{ email: string }>('SELECT email FROM users WHERE id = $1', [userId]);
  const found = await support.get(`/users?search=${encodeURIComponent(user?.email ?? '')}`);
  expect(found.text).toContain(`href="/users/${userId}"`);
  expect((await support.get('/users?search=nobody-like-this')).text).not.toContain(`href="/users/${userId}"`);
});

it('disables a user, which ends the grants, and enables the user again', async () => {
  const { userId } = await userWithGrant();
  const page = await support.get(`/users/${userId}`);
  const disabled = await support.submit(page, {}, `/users/${userId}/disable`);
  expect(disabled.status).toBe(200);
  expect(await liveGrants(userId)).toEqual([]);
  expect((await support.submit(disabled, {}, `/users/${userId}/enable`)).text).toContain('may log in again');
});

it('revokes one grant, and all grants of an application', async () => {
  const one = await userWithGrant();
  const page = await support.get(`/users/${one.userId}`);
  expect((await support.submit(page, {}, '/grants/')).headers['location']).toBe(`/users/${one.userId}`);
  expect(await liveGrants(one.userId)).toEqual([]);

  const all = await userWithGrant();
  const confirm = await support.get(`/grants/revoke?client=${all.clientId}`);
  expect(confirm.text).toContain('Revoke one grant?');
  await support.submit(confirm, {}, '/grants/revoke');
  expect(await liveGrants(all.userId)).toEqual([]);
});

it('lets only an admin delete a user', async () => {
  const { userId } = await userWithGrant();
  expect((await support.get(`/users/${userId}/delete`)).status).toBe(403);
  const admin = await app.operator('admin');
  const confirm = await admin.get(`/users/${userId}/delete`);
  await admin.submit(confirm, {}, `/users/${userId}/delete`);
  expect(await app.sql('SELECT 1 FROM users WHERE id = $1', [userId])).toEqual([]);
});

it('lets a viewer read, and end no access', async () => {
  const { userId } = await userWithGrant();
  const viewer = await app.operator('viewer');
  const page = await viewer.get(`/users/${userId}`);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain('/disable');
  expect((await viewer.post(`/users/${userId}/disable`, {})).status).toBe(403);
  expect((await viewer.get(`/grants/revoke?user=id:${userId}`)).status).toBe(403);
});

it('refuses to revoke every grant of every user', async () => {
  const { userId } = await userWithGrant();
  const confirm = await support.get(`/grants/revoke?user=id:${userId}`);
  const tokens = [...confirm.text.matchAll(/name="csrf_token" value="([^"]+)"/g)];
  const token = tokens.at(-1)?.[1] ?? '';
  expect((await support.post('/grants/revoke', { csrf_token: token })).status).toBe(400);
  expect(await liveGrants(userId)).toHaveLength(1);
});

it('says that an address without a user has none', async () => {
  expect((await support.get('/users/999999')).status).toBe(404);
  expect((await support.get('/users/abc')).status).toBe(400);
});
