import type { FastifyRequest } from 'fastify';
import type { Response } from 'supertest';
import type { User } from '#users/user.js';
import { compareOrigin } from '../../src/session/cookie-diagnosis.service.js';
import type { ErrorKind } from '../../src/ui/errors/error-kind.js';
import { MESSAGES } from '../../src/ui/i18n/messages.js';
import {
  authorizeAddress,
  type AuthorizeApp,
  REDIRECT_URI,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';

const HTTP = 'http://localhost:3001';
const HTTPS = 'https://auth.example.com';
const QUERY = 'client_id=x&state=%22%3Cb%3E';

/** `app` and `secure` trust a proxy on this machine; `open` does not trust any proxy. */
const { app, client } = useAuthorizeApp({ AUTH_URL: HTTP, TRUSTED_PROXIES: 'loopback' });
const { app: secure } = useAuthorizeApp({ AUTH_URL: HTTPS, TRUSTED_PROXIES: 'loopback' });
const { app: open } = useAuthorizeApp({ AUTH_URL: HTTPS });

let user: User;
beforeAll(async () => {
  user = await app.user('Ada <b>');
});

const expectKind = ({ status, text }: Response, kind: ErrorKind) => {
  expect(/<h1>([^<]*)<\/h1>/.exec(text)?.[1]).toBe(MESSAGES.en[`error.${kind}.title`]);
  expect(status).toBe(403);
};

const buttonOf = ({ text }: Response) => /<a class="button" href="([^"]*)"/.exec(text)?.[1] ?? null;

describe('a form without its cookie', () => {
  const cases: [
    what: string,
    where: () => AuthorizeApp,
    headers: Record<string, string>,
    kind: ErrorKind,
    says: string | null,
  ][] = [
    ['at the configured host', () => app, { Host: 'localhost:3001' }, 'cookie_missing', null],
    ['at a host in upper case', () => app, { Host: 'LOCALHOST:3001' }, 'cookie_missing', null],
    [
      'at 127.0.0.1 instead of localhost',
      () => app,
      { Host: '127.0.0.1:3001' },
      'cookie_host',
      'http://127.0.0.1:3001',
    ],
    ['at another port', () => app, { Host: 'localhost:3002' }, 'cookie_host', 'http://localhost:3002'],
    [
      'over https instead of http',
      () => app,
      { Host: 'localhost:3001', 'X-Forwarded-Proto': 'https' },
      'cookie_https',
      'https://localhost:3001',
    ],
    [
      'over https as configured',
      () => secure,
      { Host: 'auth.example.com', 'X-Forwarded-Proto': 'https' },
      'cookie_missing',
      null,
    ],
    [
      'with the default port',
      () => secure,
      { Host: 'auth.example.com:443', 'X-Forwarded-Proto': 'https' },
      'cookie_missing',
      null,
    ],
    [
      'over http behind a proxy instead of https',
      () => secure,
      { Host: 'auth.example.com', 'X-Forwarded-Proto': 'http' },
      'cookie_http',
      'http://auth.example.com',
    ],
    [
      'over http without a proxy',
      () => open,
      { Host: 'auth.example.com' },
      'cookie_http',
      'http://auth.example.com',
    ],
    [
      'from a proxy that forwards another host',
      () => secure,
      { Host: 'internal:3001', 'X-Forwarded-Host': 'auth.example.com', 'X-Forwarded-Proto': 'https' },
      'cookie_missing',
      null,
    ],
    // Browsers send Sec-Fetch-Site to this host only over https.
    [
      'from a browser in a secure context',
      () => open,
      { Host: 'auth.example.com', 'Sec-Fetch-Site': 'same-origin' },
      'cookie_missing',
      null,
    ],
    [
      'from an untrusted proxy that forwards https',
      () => open,
      { Host: 'auth.example.com', 'X-Forwarded-Proto': 'https' },
      'cookie_missing',
      'TRUSTED_PROXIES does not cover its address',
    ],
    [
      'from an untrusted proxy that forwards the host',
      () => open,
      { Host: 'internal', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'auth.example.com' },
      'cookie_missing',
      'TRUSTED_PROXIES does not cover its address',
    ],
  ];

  it.each(cases)(
    'results in a page with the cause and a link to AUTH_URL: %s',
    async (_what, where, headers, kind, says) => {
      const { browser, configuration } = where();
      const answer = await browser().post(`/auth/login?${QUERY}`, { csrf_token: 'x' }, headers);
      expectKind(answer, kind);
      const { AUTH_URL } = configuration;
      expect(buttonOf(answer)).toBe(`${AUTH_URL}/auth/login?client_id=x&amp;state=%22%3Cb%3E`);
      if (says !== null) expect(answer.text).toContain(says);
      else expect(answer.text).not.toMatch(/TRUSTED_PROXIES|AUTH_URL/);
      if (kind !== 'cookie_missing') expect(answer.text).toContain(`<bdi>${AUTH_URL}</bdi>`);
    },
  );

  it('results in a page that does not contain the Host as markup or as a link', async () => {
    const answer = await app.browser().post('/auth/login', {}, { Host: 'evil.example"><script>x' });
    expect(answer.text).not.toContain('<script');
    expectKind(answer, 'cookie_host');
    expect(buttonOf(answer)).toBe(`${HTTP}/auth/login`);
  });

  it.each([
    ['/auth/logout', '/auth/'],
    ['/auth/logout?client_id=x', '/auth/oauth2/authorize?client_id=x'],
    ['/auth/language', '/auth/'],
    ['/auth/logout-everywhere', '/auth/'],
    ['/auth/oauth2/authorize?client_id=x', '/auth/oauth2/authorize?client_id=x'],
  ])('posted to %s can be restarted at %s', async (path, start) => {
    const answer = await app.browser().post(path, {}, { Host: 'localhost:3001' });
    expect(buttonOf(answer)).toBe(HTTP + start);
  });

  it('posted to a path with another host cannot be restarted', async () => {
    const answer = await app.browser().post('//evil.example/auth/login', {}, { Host: 'localhost:3001' });
    expect(buttonOf(answer)).toBeNull();
  });
});

describe('a form with an outdated cookie', () => {
  const loginForm = async () => {
    const browser = app.browser();
    const page = await browser.get(`/auth/login?${QUERY}`);
    const [form] = formsOf(page.text);
    if (!form) throw new Error('no form');
    return { browser, form };
  };

  it.each(['email', 'username'] as const)(
    'continues with the session of the other tab if it is of the user whose %s was typed',
    async (name) => {
      const { browser, form } = await loginForm();
      const other = await app.loggedIn(user);
      const cookie = other.cookies.get('oauth_service_session') ?? '';
      browser.cookies.set('oauth_service_session', cookie);
      const typed = { username: ` ${user[name].toUpperCase()}`, password: 'not checked' };
      const answer = await browser.post(form.action, { ...form.hidden, ...typed });
      expect([answer.status, answer.headers['location']]).toEqual([303, `/auth/oauth2/authorize?${QUERY}`]);
      expect(browser.cookies.get('oauth_service_session')).toBe(cookie);
    },
  );

  it('results in a page that names the user of the other tab if another name was typed', async () => {
    const { browser, form } = await loginForm();
    const other = await app.loggedIn(user);
    browser.cookies.set('oauth_service_session', other.cookies.get('oauth_service_session') ?? '');
    const answer = await browser.post(form.action, { ...form.hidden, username: 'grace@example.com' });
    expectKind(answer, 'logged_in_elsewhere');
    expect(answer.text).toContain('<bdi>Ada &lt;b&gt;</bdi>');
    expect(buttonOf(answer)).toBe(`${HTTP}/auth/login?client_id=x&amp;state=%22%3Cb%3E`);
    const next = await browser.get(`/auth/login?${QUERY}`);
    expect(next.headers['location']).toBe(`/auth/oauth2/authorize?${QUERY}`);
  });

  it('can be restarted after a logout in another tab, and grants nothing', async () => {
    const browser = await app.loggedIn(user);
    const address = authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's' });
    const consent = await browser.get(address);
    await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    await browser.get('/auth/login');
    const answer = await browser.submit(consent, { decision: 'allow' }, '/auth/oauth2/authorize');
    expectKind(answer, 'form_outdated');
    expect(buttonOf(answer)).toBe((HTTP + address).replaceAll('&', '&amp;'));
    expect(answer.headers['location']).toBeUndefined();
  });

  it('results in a page without a user name if the session of the other tab has ended', async () => {
    const { browser, form } = await loginForm();
    const other = await app.loggedIn(user);
    browser.cookies.set('oauth_service_session', other.cookies.get('oauth_service_session') ?? '');
    await other.submit(await other.get('/auth/'), {}, '/auth/logout-everywhere');
    expectKind(await browser.post(form.action, form.hidden), 'form_outdated');
  });
});

describe('a form from another site', () => {
  it.each([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site', Origin: HTTP },
    { Origin: 'https://evil.example' },
    // Origin and Host agree, but Sec-Fetch-Site reveals another site.
    { Origin: 'http://127.0.0.1:3001', Host: '127.0.0.1:3001', 'Sec-Fetch-Site': 'cross-site' },
  ])('is rejected with %j, without a link to continue', async (headers) => {
    const browser = await app.loggedIn(user);
    const page = await browser.get('/auth/');
    const form = formsOf(page.text).find(({ action }) => action === '/auth/logout');
    const answer = await browser.post('/auth/logout', { ...form?.hidden }, headers);
    expectKind(answer, 'form_foreign');
    expect(buttonOf(answer)).toBeNull();
    expect((await browser.get('/auth/')).status).toBe(200);
  });

  it('is distinguished from a form of this service at a URL other than AUTH_URL', async () => {
    const headers = {
      Origin: 'http://127.0.0.1:3001',
      Host: '127.0.0.1:3001',
      'Sec-Fetch-Site': 'same-origin',
    };
    const answer = await app.browser().post('/auth/login', {}, headers);
    expectKind(answer, 'cookie_host');
    expect(buttonOf(answer)).toBe(`${HTTP}/auth/login`);
  });
});

it('the cookie diagnosis truncates a URL to 200 characters', async () => {
  const host = `h${'x'.repeat(12_000)}.example`;
  const answer = await app.browser().post('/auth/login', {}, { Host: host });
  expectKind(answer, 'cookie_host');
  expect(answer.text).toContain(`http://${host}`.slice(0, 200));
  expect(answer.text).not.toContain(`http://${host}`.slice(0, 201));
  const usual = await app.browser().post('/auth/login', {}, { Host: 'other.example' });
  expect(answer.text.length).toBeLessThan(usual.text.length + 1_000);
});

it('the cookie diagnosis accepts a malformed host', () => {
  const request = { protocol: 'http', host: '[::1', headers: {} } as Pick<
    FastifyRequest,
    'protocol' | 'host' | 'headers'
  >;
  expect(compareOrigin(request, HTTP)).toMatchObject({ otherHost: true, otherScheme: false });
  expect(compareOrigin({ ...request, host: '' }, HTTP)).toMatchObject({ otherHost: false });
});
