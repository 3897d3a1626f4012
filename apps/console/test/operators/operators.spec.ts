import type { JWTPayload } from 'jose';
import type { Response } from 'supertest';
import { formsOf } from '#local/demo/html-form.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { type Browser, targetOf, wordsOf } from '#test/support/browser.js';
import type { Role } from '../../src/role.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string;
}

let app: ConsoleApp;
let admin: Browser;
let ada: User;

beforeAll(async () => {
  app = await startConsoleApp({ CONSOLE_GROUPS_CLAIM: '', CONSOLE_ROLES: '' });
  ada = await user('ada');
});

beforeEach(async () => {
  await app.resetRateLimits();
  await app.sql(`UPDATE users SET console_role = CASE WHEN id = $1 THEN 'admin' END`, [ada.id]);
  admin = await loggedIn(ada);
});

afterAll(() => app.close());

async function user(username: string): Promise<User> {
  const profile = { username, email: `${username}@example.com`, name: username };
  const { id } = await app.users.create({ ...profile, passwordHash: '$argon2id$nobody logs in with this' });
  await app.sql('UPDATE users SET email_verified = true WHERE id = $1', [id]);
  return { id, ...profile };
}

async function loggedIn({ id, username }: User, claims: JWTPayload = {}): Promise<Browser> {
  const browser = app.browser();
  await app.logIn(browser, { sub: String(id), preferred_username: username, ...claims });
  return browser;
}

const roleOf = async ({ id }: User): Promise<Role | null> => {
  const [row] = await app.sql<{ role: Role | null }>('SELECT console_role AS role FROM users WHERE id = $1', [
    id,
  ]);
  return row?.role ?? null;
};

/** Submits a form of the pages of operators. @param go hidden field that distinguishes forms of one page */
function submit(page: Response, fields: Readonly<Record<string, string>>, go?: string): Promise<Response> {
  const isWanted = ({ action, hidden }: ReturnType<typeof formsOf>[number]): boolean =>
    action.startsWith('/operators') && hidden['go'] === go;
  const form = formsOf(page.text).find(isWanted);
  if (!form) throw new Error(`no such form in a page of status ${page.status}`);
  return admin.post(form.action, { ...form.hidden, ...fields });
}

const invite = async (email: string, role: Role): Promise<Response> =>
  submit(await admin.get('/operators/new'), { email, role }, 'invite');
const invitations = () => app.sql<{ email: string }>('SELECT email FROM console_invitations');

describe('an admin', () => {
  it('grants a role at the next login, and changes and ends it at the next request', async () => {
    const grace = await user('grace');
    const path = `/operators/${grace.id}`;
    const statuses = async (browser: Browser) => [
      (await browser.get('/operators')).status,
      (await browser.get('/operators/new')).status,
    ];
    expect(await statuses(await loggedIn(grace))).toEqual([403, 403]);
    const listed = await submit(await admin.get('/operators/new'), { login: grace.email, role: 'viewer' });
    expect([listed.status, listed.text]).toEqual([200, expect.stringContaining(`"${path}"`)]);
    const browser = await loggedIn(grace);
    expect(await statuses(browser)).toEqual([200, 403]);
    await submit(await admin.get(path), { role: 'admin' });
    expect(await statuses(browser)).toEqual([200, 200]);
    const ended = await submit(await admin.get(path), {}, 'end');
    expect([ended.status, ended.text]).toEqual([200, expect.not.stringContaining(`"${path}"`)]);
    expect(await statuses(browser)).toEqual([403, 403]);
    expect(
      await auditEvents(
        app.services.natsUrl,
        { userId: grace.id, types: ['console_operator.granted', 'console_operator.revoked'] },
        3,
      ),
    ).toMatchObject([
      { type: 'console_operator.granted', operator: 'ada', changes: { role: { old: null, new: 'viewer' } } },
      { type: 'console_operator.granted', changes: { role: { old: 'viewer', new: 'admin' } } },
      { type: 'console_operator.revoked', changes: { role: { old: 'admin', new: null } } },
    ]);
  });

  it.each([
    ['a role for an unknown user', { login: 'nobody', role: 'viewer' }, undefined],
    ['an unknown role', { login: 'ada', role: 'owner' }, undefined],
    ['an invitation of something that is not an address', { email: 'nobody', role: 'viewer' }, 'invite'],
    ['an invitation of an operator', { email: 'ADA@example.com', role: 'viewer' }, 'invite'],
  ])('gets the form again, with its input, after %s', async (_, fields, go) => {
    const refused = await submit(await admin.get('/operators/new'), fields, go);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('role="alert"');
    const form = formsOf(refused.text).find(
      ({ hidden, action }) => action === '/operators/new' && hidden['go'] === go,
    );
    const { role: _role, ...input } = fields;
    expect(form?.fields).toMatchObject(input);
    expect([await roleOf(ada), await invitations()]).toEqual(['admin', []]);
  });

  it('withdraws an invitation, which the list then no longer shows and a login does not accept', async () => {
    const alan = await user('alan');
    await invite(alan.email, 'support');
    const listed = await admin.get('/operators');
    expect(wordsOf(listed)).toContain(alan.email);
    const withdrawn = await submit(listed, {});
    expect([withdrawn.status, wordsOf(withdrawn)]).toEqual([200, expect.not.stringContaining(alan.email)]);
    expect((await (await loggedIn(alan)).get('/operators')).status).toBe(403);
  });
});

it('the metric of admins counts enabled ones', async () => {
  const admins = async () =>
    (await app.metrics.getSingleMetric('oauth_console_admins')?.get())?.values[0]?.value;
  expect(await admins()).toBe(1);
  const eve = await user('eve');
  await app.sql(`UPDATE users SET console_role = 'admin' WHERE id = $1`, [eve.id]);
  expect(await admins()).toBe(2);
  await app.sql('UPDATE users SET operator_disabled_at = now() WHERE id = $1', [eve.id]);
  expect(await admins()).toBe(1);
});

describe('an invitation', () => {
  afterEach(() => app.sql('DELETE FROM console_invitations'));

  it('is accepted once, by the first login of the user with the verified address', async () => {
    const linus = await user('linus');
    const invited = await invite('LINUS@example.com', 'support');
    expect([invited.status, invited.text]).toEqual([
      201,
      expect.stringContaining(app.configuration.CONSOLE_URL),
    ]);
    const browser = await loggedIn(linus);
    expect([(await browser.get('/operators')).status, await roleOf(linus)]).toEqual([200, 'support']);
    expect(await invitations()).toEqual([]);
    await submit(await admin.get(`/operators/${linus.id}`), {}, 'end');
    expect([(await (await loggedIn(linus)).get('/operators')).status, await roleOf(linus)]).toEqual([
      403,
      null,
    ]);
  });

  it('is not accepted by a user with another or an unverified address, whatever the ID token claims', async () => {
    const [other, unverified] = [await user('mallory'), await user('barbara')];
    await app.sql('UPDATE users SET email_verified = false WHERE id = $1', [unverified.id]);
    await invite(unverified.email, 'admin');
    for (const visitor of [other, unverified]) {
      const browser = await loggedIn(visitor, { email: unverified.email, email_verified: true });
      expect([(await browser.get('/operators')).status, await roleOf(visitor)]).toEqual([403, null]);
    }
    expect(await invitations()).toEqual([{ email: unverified.email }]);
    await app.sql('UPDATE users SET email_verified = true WHERE id = $1', [unverified.id]);
    expect((await (await loggedIn(unverified)).get('/operators')).status).toBe(200);
  });
});

describe('the last admin', () => {
  it.each([
    ['gets another role', { role: 'viewer' }, undefined, 'viewer'],
    ['loses the role', {}, 'end', null],
  ])('%s only after a warning that names the way back', async (_, fields, go, role) => {
    const path = `/operators/${ada.id}`;
    const warned = await submit(await admin.get(path), fields, go);
    expect([warned.status, await roleOf(ada)]).toEqual([409, 'admin']);
    expect(wordsOf(warned)).toContain(`operator console grant id:${ada.id} --role admin`);
    expect(formsOf(warned.text).filter(({ action }) => action === path)).toHaveLength(1);
    await submit(warned, fields, go);
    expect(await roleOf(ada)).toBe(role);
  });

  it('is not warned while another enabled admin exists', async () => {
    const other = await user('katherine');
    await submit(await admin.get('/operators/new'), { login: other.username, role: 'admin' });
    await submit(await admin.get(`/operators/${ada.id}`), {}, 'end');
    expect([await roleOf(ada), await roleOf(other)]).toEqual([null, 'admin']);
  });
});

it('a user whose role has ended can log in with another account or log out, also at the provider', async () => {
  app.provider.state.metadata = { end_session_endpoint: `${app.provider.issuer}/logout` };
  app.clock.ahead = 60_000;
  const browser = await loggedIn(ada);
  await app.sql('UPDATE users SET console_role = NULL');
  const refused = await browser.get('/users');
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('href="/login?account"');
  const target = new URL(targetOf(await browser.submit(refused, {}, '/logout')));
  expect(`${target.origin}${target.pathname}`).toBe(`${app.provider.issuer}/logout`);
  expect(target.searchParams.has('id_token_hint')).toBe(true);
  expect((await browser.get('/users')).headers['location']).toContain('/login?');
  app.clock.ahead = 0;
});

it('a console whose roles come from groups shows no form for operators, and grants and invites nothing', async () => {
  const groups = await startConsoleApp({}, app.services);
  const browser = await groups.operator('admin');
  expect(
    formsOf((await browser.get('/operators')).text).filter(({ action }) => action !== '/logout'),
  ).toEqual([]);
  for (const [path, fields] of [
    ['/operators/new', { login: 'ada', role: 'viewer', confirmLastAdmin: 'true' }],
    ['/operators/new', { go: 'invite', email: 'nobody@example.com', role: 'viewer' }],
    [`/operators/${ada.id}`, { role: 'viewer', confirmLastAdmin: 'true' }],
    [`/operators/${ada.id}`, { go: 'end', confirmLastAdmin: 'true' }],
  ] as const)
    expect((await groups.postForm(browser, path, fields)).status).toBeGreaterThanOrEqual(400);
  expect([await roleOf(ada), await invitations()]).toEqual(['admin', []]);
  await groups.close();
});
