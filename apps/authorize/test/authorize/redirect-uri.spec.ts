import type { Client } from '#clients/client.js';
import {
  authorize,
  authorizeAddress,
  PKCE,
  REDIRECT_URI,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { storeApiClient } from '#test/support/stored.js';

const { app, client, user } = useAuthorizeApp();

let pocket: Client;

beforeAll(async () => {
  pocket = await app.client(
    { type: 'public', name: 'Pocket' },
    'com.example.pocket:/callback',
    'http://127.0.0.1/callback?v=1',
    'http://[::1]:4000/',
    'http://localhost:4000/callback',
    'https://pocket.example/callback',
  );
});

// @rfc 6749 3.1.2.2 @rfc 9700 2.1
describe('the authorization endpoint', () => {
  const elsewhere = [
    ['a prefix', 'https://app.example.com/callback'],
    ['a suffix', `${REDIRECT_URI}&more=1`],
    ['a deeper path', 'https://app.example.com/callback/x?tenant=7&x=%2F'],
    ['the host in another case', 'https://APP.example.com/callback?tenant=7&x=%2F'],
    ['the path in another case', 'https://app.example.com/Callback?tenant=7&x=%2F'],
    ['an escape in another case', 'https://app.example.com/callback?tenant=7&x=%2f'],
    ['a decoded escape', 'https://app.example.com/callback?tenant=7&x=/'],
    ['an encoded path', 'https://app.example.com/%63allback?tenant=7&x=%2F'],
    ['a trailing slash', 'https://app.example.com/callback/?tenant=7&x=%2F'],
    ['dot segments', 'https://app.example.com/a/../callback?tenant=7&x=%2F'],
    ['the default port written out', 'https://app.example.com:443/callback?tenant=7&x=%2F'],
    ['another port', 'https://app.example.com:8443/callback?tenant=7&x=%2F'],
    ['http', 'http://app.example.com/callback?tenant=7&x=%2F'],
    ['the registered host as userinfo', 'https://app.example.com@evil.example/callback?tenant=7&x=%2F'],
    ['another host as userinfo', 'https://evil.example@app.example.com/callback?tenant=7&x=%2F'],
    ['a fragment', `${REDIRECT_URI}#x`],
    ['a backslash', 'https://app.example.com\\@evil.example/callback?tenant=7&x=%2F'],
    ['a subdomain', 'https://app.example.com.evil.example/callback?tenant=7&x=%2F'],
    ['a trailing space', `${REDIRECT_URI} `],
    ['the query in another order', 'https://app.example.com/callback?x=%2F&tenant=7'],
    ['no scheme', '//app.example.com/callback?tenant=7&x=%2F'],
    ['javascript', 'javascript:alert(1)'],
    ['a relative address', '/callback'],
    ['the redirect URI of another client', 'https://pocket.example/callback'],
    ['too many characters', `https://app.example.com/${'x'.repeat(2000)}`],
  ];

  // @rfc 6749 4.4
  it('rejects a client_credentials client without a redirect', async () => {
    const own = { ...client, clientId: 'sc_terraform' };
    await storeApiClient(app, own.clientId);
    for (const more of [{}, { scope: 'admin:read' }, { redirect_uri: '' }]) {
      const answer = await authorize(app, own, more);
      expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
      expect(answer.text).toContain('registered without a redirect URI');
    }
  });

  // @rfc 6749 3.1.2.3 @rfc 6749 10.15 @rfc 9700 2.1
  it.each(elsewhere)(
    'rejects a redirect_uri that differs from the registered URI, without a redirect: %s',
    async (_case, redirectUri) => {
      const answer = await authorize(app, client, { redirect_uri: redirectUri });
      expect(answer.status).toBe(400);
      expect(answer.headers['location']).toBeUndefined();
      expect(answer.text).toContain('redirect_uri');
      expect(answer.type).toBe('text/html');
    },
  );

  // @rfc 8252 7.3
  it.each([
    'http://127.0.0.1/callback?v=1',
    'http://127.0.0.1:1/callback?v=1',
    'http://127.0.0.1:51004/callback?v=1',
    'http://127.0.0.1:65535/callback?v=1',
    'http://[::1]:4000/',
    'http://[::1]:51004/',
    'http://[::1]/',
    'http://[::1]:51004',
    'http://[::1]',
    'http://localhost:4000/callback',
    'http://localhost:51004/callback',
    'http://localhost/callback',
    'com.example.pocket:/callback',
  ])('accepts %s for a native app', async (redirectUri) => {
    const answer = await authorize(app, pocket, { redirect_uri: redirectUri, ...PKCE });
    expect(answer.headers['location']).toMatch(/^\/auth\/login/);
  });

  // @rfc 8252 8.4
  it.each([
    'http://127.0.0.1:65536/callback?v=1',
    'http://127.0.0.1:0/callback?v=1',
    'http://127.0.0.1:080/callback?v=1',
    'http://127.0.0.1:/callback?v=1',
    'http://127.0.0.1:80@evil.example/callback?v=1',
    'http://127.0.0.1:51004/callback',
    'http://127.0.0.1:51004/callback?v=2',
    'http://127.0.0.2:51004/callback?v=1',
    'https://127.0.0.1:51004/callback?v=1',
    'http://[::1]:51004/callback',
    'http://[::1]:51004?',
    'http://localhost:51004',
    'http://localhost:51004/callback/',
    'http://LOCALHOST:51004/callback',
    'http://localhost.:51004/callback',
    'https://localhost:51004/callback',
    'http://127.0.0.1:51004/',
    'http://127.0.0.1:51004\\@evil.example/callback?v=1',
    'com.example.pocket:/Callback',
    'https://pocket.example:8443/callback',
  ])('rejects %s for a native app, without a redirect', async (redirectUri) => {
    const answer = await authorize(app, pocket, { redirect_uri: redirectUri, ...PKCE });
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
  });

  // @deviation D15
  it('rejects another port in a confidential client’s loopback URI', async () => {
    const web = await app.client({}, 'http://127.0.0.1/callback', 'http://localhost');
    for (const redirect_uri of [
      'http://127.0.0.1:5000/callback',
      'http://localhost:5000',
      'http://localhost/',
    ])
      expect((await authorize(app, web, { redirect_uri })).status).toBe(400);
  });

  it.each(['http://localhost:51004/callback', 'http://[::1]:51004'])(
    'redirects to %s exactly as requested, and binds the code to this URI',
    async (redirectUri) => {
      const browser = await app.loggedIn(user);
      const before = await app.redis.keys('grant:*');
      const parameters = { client_id: pocket.clientId, redirect_uri: redirectUri, state: 's', ...PKCE };
      const page = await browser.get(authorizeAddress(parameters));
      const { headers } = await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
      expect(headers['location']).toMatch(`${redirectUri}?code=`);
      const [key = ''] = (await app.redis.keys('grant:*')).filter((name) => !before.includes(name));
      expect(await app.redis.hget(key, 'redirect_uri')).toBe(redirectUri);
    },
  );

  const uri = encodeURIComponent(REDIRECT_URI);
  it.each<[string, () => string]>([
    ['client_id is missing', () => `redirect_uri=${uri}&state=s`],
    ['client_id is empty', () => `client_id=&redirect_uri=${uri}&state=s`],
    // @rfc 6749 3.1.2.4
    ['client_id is unknown', () => `client_id=sc_unknown&redirect_uri=${uri}&state=s`],
    [
      'client_id is repeated',
      () => `client_id=${client.clientId}&client_id=${client.clientId}&redirect_uri=${uri}`,
    ],
    ['client_id is an array', () => `client_id[]=${client.clientId}&redirect_uri=${uri}`],
    ['client_id contains a NUL', () => `client_id=${client.clientId}%00&redirect_uri=${uri}`],
    ['client_id is not UTF-8', () => `client_id=%ff&redirect_uri=${uri}`],
    ['client_id is too long', () => `client_id=${'x'.repeat(256)}&redirect_uri=${uri}`],
    // @rfc 6749 3.1.2.4
    ['redirect_uri is missing', () => `client_id=${client.clientId}&state=s`],
    [
      'redirect_uri is repeated',
      () => `client_id=${client.clientId}&redirect_uri=${uri}&redirect_uri=${uri}`,
    ],
    ['redirect_uri is an object', () => `client_id=${client.clientId}&redirect_uri[a]=${uri}`],
    ['redirect_uri is not UTF-8', () => `client_id=${client.clientId}&redirect_uri=${uri}%c3`],
    ['redirect_uri has a broken escape', () => `client_id=${client.clientId}&redirect_uri=${uri}%`],
    ['there is no query', () => ''],
  ])('rejects the request without a redirect when %s', async (_case, query) => {
    const answer = await app.browser().get(`/auth/oauth2/authorize?${query()}`);
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
    expect(answer.text).toMatch(/<dd lang="en" dir="ltr">.*(client_id|redirect_uri)/);
    expect(answer.text).toMatch(/Reference: <code>[\w-]{12}<\/code>/);
  });
});
