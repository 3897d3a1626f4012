import type { User } from '#directory/user.js';
import { csrfToken } from '../src/session/csrf-token.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  PASSWORD,
  REDIRECT_URI,
  startAuthorizeApp,
} from './authorize-app.js';
import { formsOf } from './browser.js';

let app: AuthorizeApp;
let user: User;
let consent: string;

beforeAll(async () => {
  app = await startAuthorizeApp();
  user = await app.user();
  const { clientId } = await app.client();
  consent = authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' });
});

afterAll(() => app.close());

/** Every form: where it is, where it goes, what a user adds. */
const forms: [name: string, page: () => string, action: string, fields: () => Record<string, string>][] = [
  ['login', () => '/auth/login', '/auth/login', () => ({ username: user.email, password: PASSWORD })],
  ['logout', () => '/auth/', '/auth/logout', () => ({})],
  ['consent', () => consent, '/auth/oauth2/authorize', () => ({ decision: 'allow' })],
];

describe.each(forms)('the %s form', (name, page, action, fields) => {
  const open = async () => {
    const browser = name === 'login' ? app.browser() : await app.loggedIn(user);
    const opened = await browser.get(page());
    const form = formsOf(opened.text).find((candidate) => candidate.action.startsWith(action));
    if (!form) throw new Error(`there is no ${name} form`);
    return { browser, form };
  };

  const expectRefused = (answer: { status: number; text: string; headers: Record<string, string> }) => {
    expect(answer.status).toBe(403);
    expect(answer.headers['location']).toBeUndefined();
    expect(answer.text).toContain('Open the page again');
  };

  it.each([
    ['no token', () => undefined],
    ['an empty token', () => ''],
    ['a token that is not one', () => 'x'.repeat(43)],
    ['a token of another browser', () => csrfToken('x'.repeat(43), 'login')],
  ])('is refused with %s', async (_case, token) => {
    const { browser, form } = await open();
    const value = token();
    const sent = { ...fields(), ...(value !== undefined && { csrf_token: value }) };
    expectRefused(await browser.post(form.action, sent));
  });

  it('is refused with the token of another form', async () => {
    const { browser, form } = await open();
    const other = csrfToken(browser.cookies.get('session') ?? '', name === 'login' ? 'logout' : 'login');
    expectRefused(await browser.post(form.action, { ...fields(), csrf_token: other }));
  });

  it('is refused with the token of another cookie', async () => {
    const { browser, form } = await open();
    browser.cookies.set('session', 'y'.repeat(43));
    expectRefused(await browser.post(form.action, { ...form.fields, ...fields() }));
  });

  it.each([
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Site', 'same-site'],
    ['Sec-Fetch-Site', 'none'],
    ['Origin', 'https://evil.example'],
    ['Origin', 'http://localhost:3002'],
    ['Origin', 'http://localhost:3001.evil.example'],
  ])('is refused when %s is %s', async (header, value) => {
    const { browser, form } = await open();
    expectRefused(await browser.post(form.action, { ...form.fields, ...fields() }, { [header]: value }));
  });

  it('without a cookie says that cookies are needed', async () => {
    const { browser, form } = await open();
    browser.cookies.clear();
    const answer = await browser.post(form.action, { ...form.fields, ...fields() });
    expectRefused(answer);
    expect(answer.text).toMatch(/role="alert">[^<]*cookies are needed/);
  });

  it.each([
    ['as a browser sends it', { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://localhost:3001' }],
    [
      'as a browser sends it under Referrer-Policy: no-referrer',
      { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' },
    ],
    ['by a browser that tells nothing', {}],
  ])('is accepted %s', async (_case, headers) => {
    const { browser, form } = await open();
    const answer = await browser.post(form.action, { ...form.fields, ...fields() }, headers);
    expect(answer.status).toBe(303);
  });
});

it('a refused form leads to the page to open again', async () => {
  const answer = await app.browser().post('/auth/login?client_id=x&state=%22', {});
  expect(answer.text).toContain('href="/auth/login?client_id=x&amp;state=%22"');
  expect((await app.browser().post('/auth/logout', {})).text).toContain('href="/auth/"');
});
