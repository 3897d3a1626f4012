import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { startAppInProcess, type AppInProcess } from '#test/support/app-in-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { hashPassword } from '#users/password.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { blocked, until } from '#test/support/until.js';
import { Browser, wordsOf } from '#test/support/browser.js';
import { openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { connectionsTo } from '#test/support/restartable-nats.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

let services: Isolated;
let token: AppInProcess;
let authorize: AppInProcess;
let fixture: Awaited<ReturnType<typeof openFixture>>;
let app: ConsoleApp;
let support: Browser;

// A real token app applies the revocations.
beforeAll(async () => {
  services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  token = await startAppInProcess('token', { ...appSettings(services), TOKEN_KEYS });
  fixture = await openFixture(services, TOKEN_KEYS);
  authorize = await startAppInProcess('authorize', { ...appSettings(services), TOKEN_KEYS });
  app = await startConsoleApp({}, services);
  support = await app.operator('support');
});

afterAll(async () => {
  await app.close();
  await Promise.all([token.stop(), authorize.stop()]);
  await fixture.close();
  await services.close();
});

/** Creates a user with a grant. */
async function userWithGrant(): Promise<{ userId: number; clientId: string }> {
  const [{ client_id: clientId }, userId] = [await fixture.client(), await fixture.user()];
  await fixture.code(clientId, userId);
  return { userId, clientId };
}

const liveGrants = (userId: number) =>
  app.sql('SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL', [userId]);

it('the list of users finds a user by e-mail address', async () => {
  const userId = await fixture.user();
  const [user] = await app.sql<{ email: string }>('SELECT email FROM users WHERE id = $1', [userId]);
  const found = await support.get(`/users?search=${encodeURIComponent(user?.email ?? '')}`);
  expect(found.text).toContain(`href="/users/${userId}"`);
  expect((await support.get('/users?search=nobody-like-this')).text).not.toContain(`href="/users/${userId}"`);
});

it('the page of a user leads to all grants of the user', async () => {
  const { userId } = await userWithGrant();
  await app.sql(
    `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at)
     SELECT 'm' || lpad(n::text, 42, '0'), user_id, client_id, scope, scope, lifetime, expires_at
     FROM grants, generate_series(1, 60) n WHERE user_id = $1`,
    [userId],
  );
  const grantsOf = ({ text }: { readonly text: string }) => [...text.matchAll(/\/grants\/([\w-]+)\/revoke/g)];
  const page = await support.get(`/users/${userId}`);
  const [, next = ''] = /href="(\/grants\?[^"]*cursor=[^"]*)"/.exec(page.text) ?? [];
  const others = await support.get(next.replaceAll('&amp;', '&'));
  const shown = [page, others].flatMap(grantsOf).map(([, id]) => id);
  expect([shown.length, new Set(shown).size]).toEqual([61, 61]);
});

it('disabling a user revokes the grants, and the user can be enabled again', async () => {
  const { userId } = await userWithGrant();
  const confirm = await support.get(`/users/${userId}/disable`);
  expect(wordsOf(confirm)).toContain('one grant');
  const disabled = await support.submit(confirm, {}, `/users/${userId}/disable`);
  expect(disabled.status).toBe(200);
  expect(await liveGrants(userId)).toEqual([]);
  expect((await support.submit(disabled, {}, `/users/${userId}/enable`)).text).toContain('can log in again');
});

it('the confirmation of a disable or delete is shown again if the number of grants has changed', async () => {
  const admin = await app.operator('admin');
  for (const action of ['disable', 'delete']) {
    const { userId } = await userWithGrant();
    const confirm = await admin.get(`/users/${userId}/${action}`);
    await app.sql('UPDATE grants SET revoked_at = now() WHERE user_id = $1', [userId]);
    const again = await admin.submit(confirm, {}, `/users/${userId}/${action}`);
    expect(again.status).toBe(409);
    expect(await app.sql('SELECT disabled_at FROM users WHERE id = $1', [userId])).toEqual([
      { disabled_at: null },
    ]);
    expect((await admin.submit(again, {}, `/users/${userId}/${action}`)).status).toBe(200);
  }
});

it('the last admin is disabled only after a warning that names the way back', async () => {
  const [admin, userId] = [await app.operator('admin'), await fixture.user()];
  const path = `/users/${userId}/disable`;
  const confirm = await admin.get(path);
  await app.sql(`UPDATE users SET console_role = 'admin' WHERE id = $1`, [userId]);
  const warned = await admin.submit(confirm, {}, path);
  expect(warned.status).toBe(409);
  expect(wordsOf(warned)).toContain(`operator user enable id:${userId}`);
  expect((await admin.submit(warned, {}, path)).status).toBe(200);
});

it.each(['disable', 'delete'])(
  'the audit trail has the same details, whether an operator or the product sends the %s of a user',
  async (action) => {
    const admin = await app.operator('admin');
    const detailsOf = async (
      by: string,
      end: (userId: number, identity: { issuer: string; external_id: string }) => Promise<unknown>,
    ): Promise<unknown> => {
      const { userId } = await userWithGrant();
      const identity = { issuer: 'https://product.example.com', external_id: String(userId) };
      await app.sql('UPDATE users SET console_role = NULL');
      await app.sql(`UPDATE users SET console_role = 'admin', issuer = $2, external_id = $3 WHERE id = $1`, [
        userId,
        identity.issuer,
        identity.external_id,
      ]);
      await end(userId, identity);
      const types = ['user.disabled', 'user.deleted'] as const;
      const events = await auditEvents(services.natsUrl, { userId, types }, action === 'delete' ? 2 : 1);
      return events.map(({ type, detail, changes }) => ({
        type,
        detail: { ...detail, by: undefined },
        changes: JSON.stringify(changes)?.replace(by, 'the disabler'),
      }));
    };
    const byProduct = await detailsOf('product', (_, identity) =>
      fixture.ask(`oauth.user.${action}`, { ...identity, updated_at: new Date().toISOString() }),
    );
    const byOperator = await detailsOf('operator', async (userId) => {
      const path = `/users/${userId}/${action}`;
      let page = await admin.submit(await admin.get(path), {}, path);
      if (page.status === 409) page = await admin.submit(page, {}, path);
      expect(page.status).toBe(200);
    });
    expect(byOperator).toEqual(byProduct);
    expect(byProduct).toMatchObject([
      { type: 'user.disabled', detail: { revoked_grants: 1, last_admin: true } },
      ...(action === 'delete' ? [{ type: 'user.deleted' }] : []),
    ]);
  },
);

it('operations, jobs and pages open no connection to NATS', async () => {
  const admin = await app.operator('admin');
  const confirmed = async (path: string) => {
    const done = await admin.submit(await admin.get(path), {}, path);
    expect(done.status).toBe(200);
  };
  const { userId } = await userWithGrant();
  for (let users = 0; users < 3; users++)
    await app.sql(`UPDATE users SET name = 'Unconnected' WHERE id = $1`, [(await userWithGrant()).userId]);
  const before = await connectionsTo(services.natsUrl);
  for (const path of ['/audit', '/events', `/users/${userId}`])
    expect((await admin.get(path)).status).toBe(200);
  await confirmed(`/users/${userId}/disable`);
  await confirmed(`/users/${userId}/delete`);
  const users = new URLSearchParams({ action: 'disable-users', all: '1', search: 'unconnected' });
  const { headers } = await admin.submit(await admin.get(`/jobs/new?${users.toString()}`), {}, '/jobs');
  await until('the end of the job', 60_000, async () =>
    (await admin.get(headers['location'] ?? '')).text.includes('3 of 3 done'),
  );
  const after = await connectionsTo(services.natsUrl);
  expect(after.filter((connection) => !before.includes(connection))).toEqual([]);
  // Neither did the process before the test.
  expect(after.filter((connection) => connection.endsWith(' operator'))).toEqual([]);
});

it('the page of a user shows the Enable button only if an operator has disabled the user', async () => {
  const userId = await fixture.user();
  await app.sql('UPDATE users SET product_disabled_at = now() WHERE id = $1', [userId]);
  const page = await support.get(`/users/${userId}`);
  expect(page.text).not.toContain(`/users/${userId}/enable`);
  expect(wordsOf(page)).toContain('The product has disabled this user. Enable the user there');
  const confirm = await support.get(`/users/${userId}/disable`);
  const disabled = await support.submit(confirm, {}, `/users/${userId}/disable`);
  const enabled = await support.submit(disabled, {}, `/users/${userId}/enable`);
  expect(wordsOf(enabled)).toContain('The user is still disabled by the product.');
  expect(enabled.text).not.toContain(`/users/${userId}/enable`);
});

it('the page of a user shows the sessions and can end all of them', async () => {
  const password = 'correct horse battery staple';
  const { id, email } = await app.users.create({
    email: 'grace@example.com',
    username: 'grace',
    name: 'Grace Hopper',
    passwordHash: await hashPassword(password),
  });
  const product = new Browser(authorize.url);
  await product.submit(await product.get('/auth/login'), { username: email, password });
  const page = await support.get(`/users/${id}`);
  expect(page.text).toContain('with a password');
  for (const key of await app.redis.keys('session:*'))
    expect(page.text).not.toContain(key.slice('session:'.length));
  const out = await support.submit(page, {}, `/users/${id}/logout`);
  expect(out.text).toContain('The user is logged out everywhere.');
  expect(out.text).not.toContain(`/users/${id}/logout`);
  expect((await product.get('/auth/')).headers['location']).toContain('/auth/login');
  const events = await auditEvents(services.natsUrl, { userId: id, types: ['user.logged_out'] });
  expect(events).toMatchObject([{ operator: 'ada', channel: 'page' }]);
});

it('a form that is sent again says that it was not executed again, and is executed again after five minutes', async () => {
  const password = 'correct horse battery staple';
  const { id: userId, email } = await app.users.create({
    email: 'twice@example.com',
    username: 'twice',
    name: 'Twice',
    passwordHash: await hashPassword(password),
  });
  const product = new Browser(authorize.url);
  await product.submit(await product.get('/auth/login'), { username: email, password });
  const page = await support.get(`/users/${userId}`);
  const before = new Set(await app.redis.keys('console:idempotency:*'));
  const send = () => support.submit(page, {}, `/users/${userId}/logout`);
  const generation = async () =>
    (
      await app.sql<{ value: number }>('SELECT session_generation AS value FROM users WHERE id = $1', [
        userId,
      ])
    )[0]?.value;
  const first = await send();
  expect(wordsOf(first)).not.toContain('not executed again');
  const executed = await generation();
  expect(wordsOf(await send())).toMatch(/not executed again\. This is its result of .* UTC\./);
  expect(await generation()).toBe(executed);
  const [record = ''] = (await app.redis.keys('console:idempotency:*')).filter((key) => !before.has(key));
  const lifetime = await app.redis.ttl(record);
  expect([lifetime > 0, lifetime <= 300]).toEqual([true, true]);
  await app.redis.del(record);
  expect(wordsOf(await send())).not.toContain('not executed again');
  expect(await generation()).toBe((executed ?? 0) + 1);
});

it('the page of a user is shown while authorize does not answer', async () => {
  const other = await startConsoleApp();
  const { id } = await other.users.create({
    email: 'grace@example.com',
    username: 'grace',
    name: 'Grace Hopper',
    passwordHash: await hashPassword('correct horse battery staple'),
  });
  const page = await (await other.operator('viewer')).get(`/users/${id}`);
  expect(page.text).toContain('Sessions are unavailable');
  await other.close();
});

it('one grant or all grants of an application can be revoked', async () => {
  const withGrant = await userWithGrant();
  const page = await support.get(`/grants?client=${withGrant.clientId}`);
  const revoked = await support.submit(page, {}, '/grants/');
  expect(revoked.text).toContain('The grant is revoked.');
  expect(revoked.text).toContain(`href="/applications/${withGrant.clientId}"`);
  expect(await liveGrants(withGrant.userId)).toEqual([]);

  const all = await userWithGrant();
  const grants = await support.get(`/grants?client=${all.clientId}`);
  const [, address = ''] = /href="(\/jobs\/new[^"]+)"/.exec(grants.text) ?? [];
  const confirm = await support.get(address.replaceAll('&amp;', '&'));
  expect(confirm.text).toContain('Revoke one grant?');
  expect(confirm.text).toContain('<bdi>Calendar Connect</bdi>');
  const { headers } = await support.submit(confirm, {}, '/jobs');
  await until('the end', 60_000, async () => {
    const { text } = await support.get(headers['location'] ?? '');
    return text.includes('1 of 1 done') && text.includes('>finished</span>');
  });
  expect(await liveGrants(all.userId)).toEqual([]);
});

it('the revocation of a grant succeeds even if the application was deleted after the list was shown', async () => {
  const { userId, clientId } = await userWithGrant();
  const page = await support.get(`/grants?client=${clientId}`);
  await app.sql('UPDATE clients SET deleted_at = now() WHERE client_id = $1', [clientId]);
  const revoked = await support.submit(page, {}, '/grants/');
  expect([revoked.status, wordsOf(revoked)]).toEqual([
    200,
    expect.stringContaining('The grant is revoked.') as string,
  ]);
  expect(await liveGrants(userId)).toEqual([]);
});

// Otherwise the role could lock out the admins, and could not undo it.
it.each(['disable', 'logout', 'enable'])(
  'an operator with the support role cannot %s another operator with this role or a higher one',
  async (action) => {
    const statuses = await Promise.all(
      ['viewer', 'support', 'admin'].map(async (role) => {
        const userId = await fixture.user();
        await app.sql(`UPDATE users SET console_role = $2 WHERE id = $1`, [userId, role]);
        const page = await support.get(`/users/${userId}`);
        const isOffered = /\/users\/\d+\/(?:disable|logout)/.test(page.text);
        const answer = await app.postForm(support, `/users/${userId}/${action}`);
        return [isOffered, wordsOf(answer).includes('only an admin may change a user')];
      }),
    );
    expect(statuses).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
  },
);

const account = (userId: number) =>
  app.sql('SELECT session_generation, disabled_at FROM users WHERE id = $1', [userId]);

it.each(['disable', 'logout'])(
  'the support role cannot %s a user who gets a role while the request waits',
  async (action) => {
    const userId = await fixture.user();
    const before = await account(userId);
    const granting = new pg.Client({ connectionString: services.databaseUrl });
    await granting.connect();
    await granting.query('BEGIN');
    await granting.query(`UPDATE users SET console_role = 'admin' WHERE id = $1`, [userId]);
    const answer = app.postForm(support, `/users/${userId}/${action}`, { grants: '0' });
    await blocked(app);
    await granting.query('COMMIT');
    await granting.end();
    expect((await answer).status).toBe(403);
    expect(await account(userId)).toEqual(before);
  },
);

it('only an admin can enable a user with a role in the console', async () => {
  const userId = await fixture.user();
  await app.sql(`UPDATE users SET console_role = 'admin', operator_disabled_at = now() WHERE id = $1`, [
    userId,
  ]);
  const path = `/users/${userId}/enable`;
  const page = await support.get(`/users/${userId}`);
  expect(page.text).not.toContain(path);
  expect(wordsOf(page)).toContain('Only an admin can disable, enable or log out this user');
  const refused = await app.postForm(support, path);
  expect(refused.status).toBe(403);
  expect(wordsOf(refused)).toContain('only an admin may change a user with this role in the console');
  const admin = await app.operator('admin');
  const enabled = await admin.submit(await admin.get(`/users/${userId}`), {}, path);
  expect(enabled.text).toContain('can log in again');
  expect((await support.get(`/users/${userId}`)).text).not.toContain(`/users/${userId}/disable`);
});

it('only an admin can delete a user', async () => {
  const { userId } = await userWithGrant();
  expect((await support.get(`/users/${userId}/delete`)).status).toBe(403);
  const admin = await app.operator('admin');
  const confirm = await admin.get(`/users/${userId}/delete`);
  const deleted = await admin.submit(confirm, {}, `/users/${userId}/delete`);
  expect(deleted.text).toContain('The user is deleted.');
  expect(await app.sql('SELECT 1 FROM users WHERE id = $1', [userId])).toEqual([]);
});

it('a viewer can read the page of a user, but cannot disable the user or log the user out', async () => {
  const { userId } = await userWithGrant();
  const viewer = await app.operator('viewer');
  const page = await viewer.get(`/users/${userId}`);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain('/disable');
  expect((await viewer.post(`/users/${userId}/disable`, {})).status).toBe(403);
  expect((await viewer.post(`/users/${userId}/logout`, {})).status).toBe(403);
});

it('the grants of all users cannot be revoked together', async () => {
  const { userId } = await userWithGrant();
  expect((await support.get('/jobs/new?action=revoke-grants&id=all%3Dtrue')).status).toBe(400);
  expect((await support.get('/jobs/new?action=revoke-grants&id=x')).status).toBe(400);
  expect(await liveGrants(userId)).toHaveLength(1);
});

it('GET /users/:id answers 404 for an unknown user and 400 for an invalid id', async () => {
  expect((await support.get('/users/999999')).status).toBe(404);
  expect((await support.get('/users/abc')).status).toBe(400);
});
