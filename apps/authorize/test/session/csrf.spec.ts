import { RequestMethod } from '@nestjs/common';
import { csrfToken } from '#ui/browser-cookie.js';
import type { FormPurpose } from '../../src/session/csrf.guard.js';
import { authorizeAddress, PASSWORD, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';
import type { Browser } from '#test/support/browser.js';
import { routesOf } from '../support/every-answer.js';
import { waitingDevice } from '../support/waiting-device.js';

const { app, client, user } = useAuthorizeApp();

const consent = () =>
  authorizeAddress({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    prompt: 'consent',
  });

const PURPOSES = [
  'login',
  'logout',
  'end_session',
  'logout_everywhere',
  'consent',
  'language',
  'revoke',
  'revoke_all',
  'device',
] as const satisfies readonly FormPurpose[];

let userCode = '';

const forms: [name: string, page: () => string, action: string, fields: () => Record<string, string>][] = [
  ['login', () => '/auth/login', '/auth/login', () => ({ username: user.email, password: PASSWORD })],
  ['logout', () => '/auth/', '/auth/logout', () => ({})],
  ['logout-everywhere', () => '/auth/', '/auth/logout-everywhere', () => ({})],
  ['language', () => '/auth/', '/auth/language', () => ({ locale: 'en' })],
  ['consent', consent, '/auth/oauth2/authorize', () => ({ decision: 'allow' })],
  ['consent page’s logout', consent, '/auth/logout', () => ({})],
  ['revoke', () => `/auth/apps/revoke?client_id=${client.clientId}`, '/auth/apps/revoke', () => ({})],
  ['revoke-all', () => '/auth/apps/revoke-all', '/auth/apps/revoke-all', () => ({})],
  ['device', () => '/auth/device', '/auth/device', () => ({ user_code: userCode })],
  ['device decision', () => '/auth/device', '/auth/device/decision', () => ({ decision: 'deny' })],
];

it('every route that accepts POST has one of these forms', () => {
  const actions = forms.map(([, , action]) => action);
  // end-session.spec.ts tests this form.
  const others = ['/auth/logout/confirm'];
  expect(routesOf(app.configuration, RequestMethod.POST).toSorted()).toEqual(
    [...new Set([...actions, ...others])].toSorted(),
  );
});

describe.each(forms)('the %s form', (name, page, action, fields) => {
  /** The device form shows the consent page; all other forms redirect. */
  const accepted = name === 'device' ? 200 : 303;
  const open = async () => {
    const browser = name === 'login' ? app.browser() : await app.loggedIn(user);
    // Earlier test cases changed the language and revoked the grant.
    await app.sql('UPDATE users SET locale = NULL WHERE id = $1', [user.id]);
    if (name.startsWith('revoke')) await allow(browser);
    if (name.startsWith('device')) {
      const deviceClient = await app.client({ type: 'public', deviceGrant: true });
      ({ userCode } = await waitingDevice(app, deviceClient, 'profile:read'));
    }
    const first = await browser.get(page());
    const opened =
      name === 'device decision'
        ? await browser.submit(first, { user_code: userCode }, '/auth/device')
        : first;
    const form = formsOf(opened.text).find((candidate) => candidate.action.split('?')[0] === action);
    if (!form) throw new Error(`there is no ${name} form`);
    return { browser, form };
  };

  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open();
  });

  const reopened = () => {
    const browser = app.browser();
    for (const [cookie, value] of opened.browser.cookies) browser.cookies.set(cookie, value);
    return { browser, form: opened.form };
  };

  const allow = async (browser: Browser) =>
    browser.submit(await browser.get(consent()), { decision: 'allow' }, '/auth/oauth2/authorize');

  const expectRefused = (answer: { status: number; text: string; headers: Record<string, string> }) => {
    expect(answer.status).toBe(403);
    expect(answer.headers['location']).toBeUndefined();
    expect(answer.text).toMatch(
      /<h1>(This page is out of date|This form came from another site|Your browser did not send|This browser is)/,
    );
  };

  it.each([
    ['no token', () => undefined],
    ['an empty token', () => ''],
    ['a malformed token', () => 'x'.repeat(43)],
    ['a token of another browser', () => csrfToken('x'.repeat(43), 'login')],
  ])('is rejected with %s', async (_case, token) => {
    const { browser, form } = reopened();
    const value = token();
    const sent = { ...fields(), ...(value !== undefined && { csrf_token: value }) };
    expectRefused(await browser.post(form.action, sent));
  });

  // @rfc 6749 10.12
  it('is rejected with the token of another form', async () => {
    const { browser, form } = reopened();
    const cookie = browser.cookies.get('oauth_service_session') ?? '';
    const others = PURPOSES.filter((purpose) => csrfToken(cookie, purpose) !== form.hidden['csrf_token']);
    expect(others).toHaveLength(PURPOSES.length - 1);
    for (const purpose of others) {
      const sent = { ...form.hidden, ...fields(), csrf_token: csrfToken(cookie, purpose) };
      expectRefused(await browser.post(form.action, sent));
    }
  });

  it('is rejected with the token of another cookie', async () => {
    const { browser, form } = reopened();
    browser.cookies.set('oauth_service_session', 'y'.repeat(43));
    expectRefused(await browser.post(form.action, { ...form.hidden, ...fields() }));
  });

  // @rfc 6749 10.12
  it.each([
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Site', 'same-site'],
    ['Sec-Fetch-Site', 'none'],
    ['Origin', 'https://evil.example'],
    ['Origin', 'http://localhost:3002'],
    ['Origin', 'http://localhost:3001.evil.example'],
  ])('is rejected when %s is %s', async (header, value) => {
    const { browser, form } = reopened();
    expectRefused(await browser.post(form.action, { ...form.hidden, ...fields() }, { [header]: value }));
  });

  it('explains that cookies are required when it is submitted without a cookie', async () => {
    const { browser, form } = reopened();
    browser.cookies.clear();
    const sent = { ...form.hidden, ...fields() };
    const answer = await browser.post(form.action, sent, { Host: 'localhost:3001' });
    expectRefused(answer);
    expect(answer.text).toMatch(/role="alert">Cookies are required/);
  });

  it('is accepted after these rejections', async () => {
    const { browser, form } = reopened();
    expect((await browser.post(form.action, { ...form.hidden, ...fields() })).status).toBe(accepted);
  });

  it.each([
    ['from a browser', { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://localhost:3001' }],
    ['from a browser with Referrer-Policy: no-referrer', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }],
    ['from a browser that sends neither Origin nor Sec-Fetch-Site', {}],
  ])('is accepted %s', async (_case, headers) => {
    const { browser, form } = await open();
    const answer = await browser.post(form.action, { ...form.hidden, ...fields() }, headers);
    expect(answer.status).toBe(accepted);
  });
});
