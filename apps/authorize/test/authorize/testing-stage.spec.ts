import type { Response } from 'supertest';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import type { Browser } from '#test/support/browser.js';
import { wordsOf } from '#test/support/browser.js';
import {
  authorizeAddress,
  redirectParameters,
  REDIRECT_URI,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { allow } from '../support/connected-apps.js';
import { storePushed } from '../support/use-pushed-requests.js';
import { waitingDevice } from '../support/waiting-device.js';

const { app } = useAuthorizeApp();

const DAY = 86_400_000;

let client: Client;
let tester: User;
let asTester: Browser;
let asOutsider: Browser;

const address = (more: Record<string, string> = {}) =>
  authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's', ...more });

const addTester = (user: User) =>
  app.sql('INSERT INTO client_testers (client_id, user_id) VALUES ($1, $2)', [client.clientId, user.id]);
const removeTester = (user: User) =>
  app.sql('DELETE FROM client_testers WHERE client_id = $1 AND user_id = $2', [client.clientId, user.id]);
const approve = () => app.sql(`UPDATE clients SET stage = 'live' WHERE client_id = $1`, [client.clientId]);

const grants = () =>
  app.sql<{ id: string; ends_at: Date | null; expires_at: Date }>(
    'SELECT id, ends_at, expires_at FROM grants WHERE client_id = $1 ORDER BY created_at',
    [client.clientId],
  );

const outcome = ({ status, headers }: Response) => [status, headers['location']];
const REFUSED = [403, undefined];

beforeEach(async () => {
  client = await app.client({
    name: 'Notes',
    stage: 'testing',
    clientUri: 'https://notes.example/',
    policyUri: null,
    contacts: [],
    deviceGrant: true,
  });
  tester = await app.user();
  await addTester(tester);
  [asTester, asOutsider] = [await app.loggedIn(tester), await app.loggedIn(await app.user('Grace Hopper'))];
});

describe('an application in testing', () => {
  it('asks a tester for consent, and says that it is in testing and was not reviewed', async () => {
    const page = await asTester.get(address());
    expect(page.status).toBe(200);
    expect(wordsOf(page)).toContain(
      'Notes is in testing: Scheduling has not reviewed it. Its access ends after 7 days.',
    );
    expect((await app.records.find(await allow(app, asTester, client)))?.endsAt).not.toBeNull();
  });

  it('is usable by an owner', async () => {
    const owner = await app.user();
    await app.sql('INSERT INTO client_owners (client_id, user_id) VALUES ($1, $2)', [
      client.clientId,
      owner.id,
    ]);
    expect((await (await app.loggedIn(owner)).get(address())).status).toBe(200);
  });

  // @rfc 6749 4.1.2.1 @rfc 9700 4.11.2
  it.each([
    ['a valid request', {}],
    ['a request with an error that would be redirected', { response_type: 'token' }],
    ['prompt=consent', { prompt: 'consent' }],
  ])('shows other users a page, without a redirect or an untrusted link: %s', async (_, more) => {
    const page = await asOutsider.get(address(more));
    expect(outcome(page)).toEqual(REFUSED);
    const words = wordsOf(page);
    for (const text of ['This application is in testing', 'Notes', 'ask the developer for an invitation'])
      expect(words).toContain(text);
    expect(page.text).not.toContain('notes.example');
    expect(page.text).not.toContain('app.example.com');
  });

  it('shows other users the page for a pushed request', async () => {
    const requestUri = await storePushed(app.redis, client.clientId, {
      redirect_uri: REDIRECT_URI,
      state: 's',
    });
    const query = { client_id: client.clientId, request_uri: requestUri };
    expect(outcome(await asOutsider.get(authorizeAddress(query)))).toEqual(REFUSED);
  });

  it('asks a visitor to log in first', async () => {
    expect((await app.browser().get(address())).headers['location']).toMatch(/^\/auth\/login\?/);
  });

  // @rfc 6749 4.1.2.1
  it('gets access_denied with prompt=none for other users', async () => {
    const { headers } = await asOutsider.get(address({ prompt: 'none' }));
    expect(redirectParameters(headers['location'])).toMatchObject({ error: 'access_denied', state: 's' });
    expect(headers['location']).not.toContain('code=');
  });

  it('cannot be allowed on an open page by a tester who was removed', async () => {
    const open = await asTester.get(address());
    await removeTester(tester);
    for (const decision of ['allow', 'deny'])
      expect(outcome(await asTester.submit(open, { decision }, '/auth/oauth2/authorize'))).toEqual(REFUSED);
    expect(await grants()).toEqual([]);
  });

  it('gets grants that end after seven days, in PostgreSQL and in Redis', async () => {
    const before = Date.now();
    const id = await allow(app, asTester, client);
    const [grant] = await grants();
    const end = grant?.ends_at?.getTime() ?? 0;
    expect(end).toBeGreaterThan(before + 7 * DAY - 1000);
    expect(end).toBeLessThanOrEqual(Date.now() + 7 * DAY);
    expect(grant?.expires_at).toEqual(grant?.ends_at);
    expect(await app.redis.hget(`grant:${id}`, 'x')).toBe(String(end));
  });

  it('connects a device for a tester, but not for other users', async () => {
    const device = await waitingDevice(app, client, 'profile:read');
    const enter = async (browser: Browser) =>
      browser.submit(await browser.get('/auth/device'), { user_code: device.userCode }, '/auth/device');
    expect(wordsOf(await enter(asOutsider))).toContain('This application is in testing');
    const page = await enter(asTester);
    expect(wordsOf(page)).toContain('is in testing');
    await asTester.submit(page, { decision: 'allow' }, '/auth/device/decision');
    const [grant] = await grants();
    expect(await app.redis.hget(`grant:${device.grantId}`, 'x')).toBe(String(grant?.ends_at?.getTime()));
  });
});

describe('an application that has become live', () => {
  it('keeps the end of the testers’ grants, and asks the testers for consent again', async () => {
    const id = await allow(app, asTester, client);
    const [tested] = await grants();
    await approve();
    const page = await asTester.get(address());
    expect(page.status).toBe(200);
    expect(wordsOf(page)).not.toContain('in testing');
    await allow(app, asTester, client);
    const [kept, unlimited] = await grants();
    expect(kept).toEqual(tested);
    expect(unlimited?.ends_at).toBeNull();
    expect(await app.redis.hget(`grant:${id}`, 'x')).toBe(String(tested?.ends_at?.getTime()));
  });

  it('is usable by all users', async () => {
    await approve();
    expect((await asOutsider.get(address())).status).toBe(200);
  });
});
