import { randomInt } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import { type Browser, statusOf, wordsOf } from '#test/support/browser.js';
import { PASSWORD, useAuthorizeApp } from '../support/start-authorize-app.js';
import { type WaitingDevice, waitingDevice } from '../support/waiting-device.js';
import { disableClients } from '#test/support/stored.js';

const { app } = useAuthorizeApp();

const DECISION = '/auth/device/decision';

let client: Client;
let user: User;
let browser: Browser;

beforeEach(async () => {
  const old = await app.redis.keys('{device}:*');
  if (old.length > 0) await app.redis.del(...old);
  client = await app.client({
    name: 'Room display',
    type: 'public',
    scopes: ['profile:read', 'bookings:read'],
    optionalScopes: ['bookings:read'],
    deviceGrant: true,
  });
  user = await app.user();
  browser = await app.loggedIn(user);
});

const device = () => waitingDevice(app, client);
const statusInRedis = ({ grantId }: WaitingDevice) => app.redis.hget(`grant:${grantId}`, 's');
const rows = ({ grantId }: WaitingDevice) =>
  app.sql<{ user_id: number; scope: string; revoked_at: Date | null }>(
    'SELECT user_id, scope, revoked_at FROM grants WHERE id = $1',
    [grantId],
  );

async function enter(userCode: string, by = browser): Promise<Response> {
  return by.submit(await by.get('/auth/device'), { user_code: userCode }, '/auth/device');
}

const decide = (page: Response, fields: Record<string, string>, by = browser) =>
  by.submit(page, fields, DECISION);

describe('the device page', () => {
  // @rfc 8628 3.3
  it('shows the application, the address and the code of the device, and a warning', async () => {
    const { userCode } = await device();
    const page = await enter(userCode.toLowerCase().replace('-', ' '));
    expect(page.status).toBe(200);
    const words = wordsOf(page);
    for (const text of ['Room display', '192.0.2.7', userCode, 'Did somebody send you this code or link?'])
      expect(words).toContain(text);
    expect(page.text).toContain('value="allow"');
  });

  it('grants the device the scopes that the user chose, and redirects to the connected applications', async () => {
    const waiting = await device();
    const answer = await decide(await enter(waiting.userCode), {
      decision: 'allow',
      'allow:bookings:read': 'yes',
    });
    expect(answer.headers['location']).toBe('/auth/apps?done');
    const page = await browser.follow(answer);
    expect(statusOf(page)).toContain('now has access');
    expect(await rows(waiting)).toEqual([
      { user_id: user.id, scope: 'profile:read bookings:read', revoked_at: null },
    ]);
    expect(await app.redis.hmget(`grant:${waiting.grantId}`, 's', 'u', 'o', 'interval')).toEqual([
      'p',
      String(user.id),
      'profile:read bookings:read',
      null,
    ]);
  });

  // @rfc 8628 3.5
  it('ends the request of the device immediately if the user cancels', async () => {
    const waiting = await device();
    const answer = await decide(await enter(waiting.userCode), { decision: 'deny' });
    expect(answer.headers['location']).toBe('/auth/?done');
    expect(statusOf(await browser.follow(answer))).toBe(
      'The device was not connected. You can close this page.',
    );
    expect(await statusInRedis(waiting)).toBe('r');
    expect(await rows(waiting)).toEqual([]);
    expect((await enter(waiting.userCode)).status).toBe(400);
  });

  // @rfc 8628 3.3.1
  it('asks the user to compare the code of verification_uri_complete before it shows the application', async () => {
    const { userCode } = await device();
    const opened = await browser.get(`/auth/device?user_code=${userCode}`);
    expect(wordsOf(opened)).toContain(`Check that your device shows this code: ${userCode}`);
    expect(opened.text).not.toContain('Room display');
    const page = await browser.submit(opened, {}, '/auth/device');
    expect(wordsOf(page)).toContain('Room display');
  });

  it('keeps the code of the link during the login', async () => {
    const { userCode } = await device();
    const visitor = app.browser();
    const login = await visitor.get(`/auth/device?user_code=${userCode.toLowerCase()}`);
    expect(login.headers['location']).toBe(`/auth/login?to=device&user_code=${userCode}`);
    const form = await visitor.follow(login);
    const back = await visitor.submit(form, { username: user.email, password: PASSWORD }, '/auth/login');
    expect(back.headers['location']).toBe(`/auth/device?user_code=${userCode}`);
    expect((await app.browser().get('/auth/device')).headers['location']).toBe('/auth/login?to=device');
  });

  it('keeps the code when the user switches to another account', async () => {
    const { userCode } = await device();
    const answer = await browser.submit(await enter(userCode), {}, '/auth/logout');
    expect(answer.headers['location']).toBe(`/auth/login?to=device&user_code=${userCode}`);
  });

  it('asks for consent every time, even for a first-party application', async () => {
    client = await app.client({
      firstParty: true,
      scopes: ['profile:read', 'bookings:read'],
      deviceGrant: true,
    });
    for (const _ of [1, 2]) {
      const page = await enter((await device()).userCode);
      expect(page.text).toContain('value="allow"');
      await decide(page, { decision: 'allow', 'allow:bookings:read': 'yes' });
    }
  });

  it('shows an error page for a disabled application', async () => {
    const { userCode } = await device();
    await disableClients(app, client.clientId);
    expect((await enter(userCode)).status).toBe(403);
  });

  it('shows an error page for an application whose device grant was disabled', async () => {
    const waiting = await device();
    const page = await enter(waiting.userCode);
    await app.sql('UPDATE clients SET device_grant = false WHERE client_id = $1', [client.clientId]);
    for (const answer of [await enter(waiting.userCode), await decide(page, { decision: 'allow' })]) {
      expect(answer.status).toBe(400);
      expect(wordsOf(answer)).toContain('Room display');
    }
    expect(await rows(waiting)).toEqual([]);
  });

  it('grants no scope that was removed from the client after the request', async () => {
    const waiting = await device();
    const page = await enter(waiting.userCode);
    await app.sql(
      "UPDATE clients SET scopes = '{profile:read}', optional_scopes = '{}' WHERE client_id = $1",
      [client.clientId],
    );
    const answer = await decide(page, { decision: 'allow', 'allow:bookings:read': 'yes' });
    expect(answer.status).toBe(303);
    expect(await rows(waiting)).toEqual([expect.objectContaining({ scope: 'profile:read' })]);
    expect(await app.redis.hget(`grant:${waiting.grantId}`, 'o')).toBe('profile:read');
  });
});

describe('a wrong code', () => {
  // @rfc 8628 5.1
  it('is rejected, and blocks the right code after five attempts', async () => {
    const { userCode } = await device();
    for (const code of ['BBBB-BBBC', 'BBBB-BBBD', 'BBBB-BBBF', 'BBBB-BBBG', 'BBBB-BBBH']) {
      const page = await enter(code);
      expect(page.status).toBe(400);
      expect(wordsOf(page)).toContain('This code is wrong or has expired');
    }
    const refused = await enter(userCode);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(wordsOf(refused)).toContain('Too many wrong codes. Try again in 15 minutes.');
  });

  it('is not counted if it is malformed, and is shown only as text', async () => {
    for (const code of ['<b>1</b>', '', 'AEIO-UAEI', `sdc_${'<b>1'.repeat(5)}`]) {
      const page = await enter(code);
      expect(page.status).toBe(400);
      expect(page.text).not.toContain('<b>1');
    }
    expect(await app.redis.keys('{device}:wrong*')).toEqual([]);
  });
});

describe('the code of a device', () => {
  it('accepts only one of the concurrent decisions of two users', async () => {
    const other = await app.loggedIn(await app.user('Grace Hopper'));
    for (const second of ['allow', 'deny'] as const) {
      const waiting = await device();
      const pages = [await enter(waiting.userCode), await enter(waiting.userCode, other)] as const;
      const answers = await Promise.all([
        decide(pages[0], { decision: 'allow' }),
        decide(pages[1], { decision: second }, other),
      ]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400]);
      const isAllowed = answers[0].status === 303 || second === 'allow';
      expect(await statusInRedis(waiting)).toBe(isAllowed ? 'p' : 'r');
      const live = (await rows(waiting)).filter(({ revoked_at: at }) => at === null);
      expect(live).toHaveLength(isAllowed ? 1 : 0);
      if (isAllowed)
        expect(await app.redis.hget(`grant:${waiting.grantId}`, 'u')).toBe(String(live[0]?.user_id));
    }
  });

  it.each([
    ['allow', '/auth/apps?done', 'p'],
    ['deny', '/auth/?done', 'r'],
  ])('gets the same result for a form that is sent again: %s', async (decision, location, status) => {
    const waiting = await device();
    const page = await enter(waiting.userCode);
    const send = () => decide(page, { decision });
    const answers = [...(await Promise.all([send(), send()])), await send()];
    expect(answers.map(({ headers }) => headers['location'])).toEqual(answers.map(() => location));
    expect(statusOf(await browser.follow(answers[2] as Response))).toBeDefined();
    expect(await statusInRedis(waiting)).toBe(status);
    expect(await rows(waiting)).toHaveLength(decision === 'allow' ? 1 : 0);
    expect(await app.redis.keys('{device}:wrong*')).toEqual([]);
  });

  it('is reported as answered, and not as wrong, in another tab or with another decision', async () => {
    const waiting = await device();
    const [page, tab] = [await enter(waiting.userCode), await enter(waiting.userCode)];
    await decide(page, { decision: 'allow' });
    const answers = [
      await decide(tab, { decision: 'allow' }),
      await decide(page, { decision: 'deny' }),
      await enter(waiting.userCode),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('<dd><code>device_answered</code></dd>');
    }
    expect(await statusInRedis(waiting)).toBe('p');
    expect((await rows(waiting)).map(({ revoked_at: at }) => at)).toEqual([null]);
    expect(await app.redis.keys('{device}:wrong*')).toEqual([]);
  });

  it('can be allowed again after the approval has failed in Redis', async () => {
    const waiting = await device();
    const page = await enter(waiting.userCode);
    const id = `grant:${waiting.grantId}`;
    // The approval fails because the key has another Redis type.
    const before = await app.redis.dumpBuffer(id);
    await app.redis.set(id, 'broken', 'EX', 60);
    expect((await decide(page, { decision: 'allow' })).status).toBe(503);
    await app.redis.restore(id, 60_000, before, 'REPLACE');
    expect((await decide(page, { decision: 'allow' })).status).toBe(303);
    expect(await statusInRedis(waiting)).toBe('p');
    expect((await rows(waiting)).map(({ revoked_at: at }) => at)).toEqual([null]);
  });

  it('is not allowed by another user after the approval of the first user has failed in Redis', async () => {
    const waiting = await device();
    const page = await enter(waiting.userCode);
    const id = `grant:${waiting.grantId}`;
    const before = await app.redis.dumpBuffer(id);
    await app.redis.set(id, 'broken', 'EX', 60);
    expect((await decide(page, { decision: 'allow' })).status).toBe(503);
    await app.redis.restore(id, 60_000, before, 'REPLACE');
    const other = await app.loggedIn(await app.user('Grace Hopper'));
    const otherPage = await enter(waiting.userCode, other);
    expect((await decide(otherPage, { decision: 'allow' }, other)).status).toBe(400);
    expect(await statusInRedis(waiting)).toBe('d');
  });
});

describe('the form of the device page', () => {
  it.each([
    ['/auth/device', { user_code: 'BBBB-BBBB' }],
    [`${DECISION}?to=device&user_code=BBBB-BBBB`, { decision: 'allow' }],
  ])('is rejected without its CSRF token at %s', async (path, fields) => {
    expect((await browser.post(path, fields)).status).toBe(403);
  });

  it('redirects to the login page if the session has ended', async () => {
    const { userCode } = await device();
    const page = await enter(userCode);
    await app.sql('UPDATE users SET session_generation = $1 WHERE id = $2', [randomInt(2 ** 30), user.id]);
    const answer = await decide(page, { decision: 'allow' });
    expect(answer.headers['location']).toBe(`/auth/login?to=device&user_code=${userCode}`);
  });
});
