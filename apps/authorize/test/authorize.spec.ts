import type { Client } from '#directory/client.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  BASE_URL,
  handedBack,
  REDIRECT_URI,
  startAuthorizeApp,
} from './authorize-app.js';

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

let app: AuthorizeApp;
let client: Client;
let pocket: Client;

beforeAll(async () => {
  app = await startAuthorizeApp();
  client = await app.client();
  pocket = await app.client(
    { type: 'public', name: 'Pocket' },
    'com.example.pocket:/callback',
    'http://127.0.0.1/callback?v=1',
    'http://[::1]:4000/',
    'http://localhost:4000/callback',
    'https://pocket.example/callback',
  );
});

afterAll(() => app.close());

const get = (parameters: Record<string, string | undefined> = {}) =>
  app.browser().get(
    authorizeAddress({
      client_id: client.clientId,
      redirect_uri: REDIRECT_URI,
      state: 's1',
      ...parameters,
    }),
  );

const raw = (query: string) => app.browser().get(`/auth/oauth2/authorize?${query}`);

describe('a good request of a user who is not logged in', () => {
  it('goes to the login with the very same query', async () => {
    const query = `client_id=${client.clientId}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}&state=a+b%20%2B%26&x=%41`;
    const answer = await raw(query);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(`/auth/login?${query}`);
  });

  it.each([
    ['response_type is absent', {}],
    ['response_type is code', { response_type: 'code' }],
    ['scope is profile:read', { scope: 'profile:read' }],
    ['scope has commas, blanks and repetitions', { scope: 'profile:read,  profile:read,' }],
    ['parameters have no value', { scope: '', response_type: '', code_challenge: '' }],
    ['there are unknown parameters', { prompt: 'login', nonce: 'n', 'x[y]': 'z' }],
    ['it uses PKCE with S256', { code_challenge: CHALLENGE, code_challenge_method: 'S256' }],
    ['state is as long as it may be', { state: 'x'.repeat(1024) }],
  ])('is accepted when %s', async (_case, parameters) => {
    expect((await get(parameters)).headers['location']).toMatch(/^\/auth\/login\?/);
  });
});

describe('client and redirect URI that are not certain never get a redirect', () => {
  const elsewhere = [
    ['a prefix', 'https://app.example.com/callback'],
    ['a suffix', `${REDIRECT_URI}&more=1`],
    ['a deeper path', 'https://app.example.com/callback/x?tenant=7&x=%2F'],
    ['another case of the host', 'https://APP.example.com/callback?tenant=7&x=%2F'],
    ['another case of the path', 'https://app.example.com/Callback?tenant=7&x=%2F'],
    ['another case of an escape', 'https://app.example.com/callback?tenant=7&x=%2f'],
    ['a decoded escape', 'https://app.example.com/callback?tenant=7&x=/'],
    ['an encoded path', 'https://app.example.com/%63allback?tenant=7&x=%2F'],
    ['a trailing slash', 'https://app.example.com/callback/?tenant=7&x=%2F'],
    ['dot segments', 'https://app.example.com/a/../callback?tenant=7&x=%2F'],
    ['the default port written out', 'https://app.example.com:443/callback?tenant=7&x=%2F'],
    ['another port', 'https://app.example.com:8443/callback?tenant=7&x=%2F'],
    ['http', 'http://app.example.com/callback?tenant=7&x=%2F'],
    ['userinfo', 'https://app.example.com@evil.example/callback?tenant=7&x=%2F'],
    ['the host as userinfo of another', 'https://evil.example@app.example.com/callback?tenant=7&x=%2F'],
    ['a fragment', `${REDIRECT_URI}#x`],
    ['a backslash', 'https://app.example.com\\@evil.example/callback?tenant=7&x=%2F'],
    ['a subdomain', 'https://app.example.com.evil.example/callback?tenant=7&x=%2F'],
    ['a blank at the end', `${REDIRECT_URI} `],
    ['another order of the query', 'https://app.example.com/callback?x=%2F&tenant=7'],
    ['no scheme', '//app.example.com/callback?tenant=7&x=%2F'],
    ['javascript', 'javascript:alert(1)'],
    ['a relative address', '/callback'],
    ['another client’s', 'https://pocket.example/callback'],
    ['too many characters', `https://app.example.com/${'x'.repeat(2000)}`],
  ];

  it.each(elsewhere)('redirect_uri with %s', async (_case, redirectUri) => {
    const answer = await get({ redirect_uri: redirectUri });
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
    expect(answer.text).toContain('redirect_uri');
    expect(answer.type).toBe('text/html');
  });

  const port = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

  it.each([
    'http://127.0.0.1/callback?v=1',
    'http://127.0.0.1:1/callback?v=1',
    'http://127.0.0.1:51004/callback?v=1',
    'http://127.0.0.1:65535/callback?v=1',
    'http://[::1]:4000/',
    'http://[::1]:51004/',
    'http://[::1]/',
    'http://localhost:4000/callback',
    'com.example.pocket:/callback',
  ])('but a native app may use %s', async (redirectUri) => {
    const answer = await get({ client_id: pocket.clientId, redirect_uri: redirectUri, ...port });
    expect(answer.headers['location']).toMatch(/^\/auth\/login/);
  });

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
    'http://[::1]:51004',
    'http://localhost:51004/callback',
    'http://127.0.0.1:51004\\@evil.example/callback?v=1',
    'com.example.pocket:/Callback',
    'https://pocket.example:8443/callback',
  ])('and a native app may not use %s', async (redirectUri) => {
    const answer = await get({ client_id: pocket.clientId, redirect_uri: redirectUri, ...port });
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
  });

  it('the port of a confidential client’s loopback address does not vary', async () => {
    const web = await app.client({}, 'http://127.0.0.1/callback');
    const answer = await get({ client_id: web.clientId, redirect_uri: 'http://127.0.0.1:5000/callback' });
    expect(answer.status).toBe(400);
  });

  const uri = encodeURIComponent(REDIRECT_URI);
  it.each<[string, () => string]>([
    ['client_id is missing', () => `redirect_uri=${uri}&state=s`],
    ['client_id is empty', () => `client_id=&redirect_uri=${uri}&state=s`],
    ['client_id is unknown', () => `client_id=sc_unknown&redirect_uri=${uri}&state=s`],
    [
      'client_id is repeated',
      () => `client_id=${client.clientId}&client_id=${client.clientId}&redirect_uri=${uri}`,
    ],
    ['client_id is an array', () => `client_id[]=${client.clientId}&redirect_uri=${uri}`],
    ['client_id holds a NUL', () => `client_id=${client.clientId}%00&redirect_uri=${uri}`],
    ['client_id is not UTF-8', () => `client_id=%ff&redirect_uri=${uri}`],
    ['client_id is too long', () => `client_id=${'x'.repeat(256)}&redirect_uri=${uri}`],
    ['redirect_uri is missing', () => `client_id=${client.clientId}&state=s`],
    [
      'redirect_uri is repeated',
      () => `client_id=${client.clientId}&redirect_uri=${uri}&redirect_uri=${uri}`,
    ],
    ['redirect_uri is an object', () => `client_id=${client.clientId}&redirect_uri[a]=${uri}`],
    ['redirect_uri is not UTF-8', () => `client_id=${client.clientId}&redirect_uri=${uri}%c3`],
    ['redirect_uri has a broken escape', () => `client_id=${client.clientId}&redirect_uri=${uri}%`],
    ['there is no query', () => ''],
  ])('when %s', async (_case, query) => {
    const answer = await raw(query());
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
    expect(answer.text).toMatch(/<p role="alert">.*(client_id|redirect_uri)/);
    expect(answer.text).toMatch(/Reference: <code>[\w-]{12}<\/code>/);
  });
});

describe('every other error goes back to the client', () => {
  const base = () => `client_id=${client.clientId}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`;

  it.each<[string, string, string, RegExp, string | null]>([
    ['state is missing', '', 'invalid_request', /'state' is missing/, null],
    ['state is empty', '&state=', 'invalid_request', /'state' is missing/, null],
    ['state is too long', `&state=${'x'.repeat(1025)}`, 'invalid_request', /longer than 1024/, null],
    ['state is an array', '&state[]=x', 'invalid_request', /'state' must be a single string/, null],
    ['state is repeated', '&state=a&state=b', 'invalid_request', /'state' is repeated/, null],
    ['state holds a NUL', '&state=a%00', 'invalid_request', /control character/, null],
    ['state holds a line break', '&state=a%0d%0aSet-Cookie:x', 'invalid_request', /control character/, null],
    ['state is not UTF-8', '&state=%ff', 'invalid_request', /UTF-8/, null],
    ['state has raw bytes that are not UTF-8', '&state=a%E9', 'invalid_request', /UTF-8/, null],
    ['response_type is token', '&state=s&response_type=token', 'unsupported_response_type', /code/, 's'],
    [
      'response_type has two',
      '&state=s&response_type=code+id_token',
      'unsupported_response_type',
      /code/,
      's',
    ],
    [
      'response_type is repeated',
      '&state=s&response_type=code&response_type=code',
      'invalid_request',
      /repeated/,
      's',
    ],
    ['an unknown parameter is repeated', '&state=s&x=1&x=2', 'invalid_request', /'x' is repeated/, 's'],
    [
      'a hostile name is repeated',
      '&state=s&%3Cb%22=1&%3Cb%22=2',
      'invalid_request',
      /'\?b\?' is repeated/,
      's',
    ],
    ['scope is unknown', '&state=s&scope=profile:write', 'invalid_scope', /profile:read/, 's'],
    ['scope is partly unknown', '&state=s&scope=profile:read,admin', 'invalid_scope', /profile:read/, 's'],
    ['scope is in another case', '&state=s&scope=Profile:Read', 'invalid_scope', /profile:read/, 's'],
    [
      'scope is an object',
      '&state=s&scope[foo]=b',
      'invalid_request',
      /'scope' must be a single string/,
      's',
    ],
    ['scope is too long', `&state=s&scope=${'x'.repeat(1001)}`, 'invalid_request', /longer than 1000/, 's'],
    [
      'the PKCE method is absent',
      `&state=s&code_challenge=${CHALLENGE}`,
      'invalid_request',
      /means plain/,
      's',
    ],
    [
      'the PKCE method is plain',
      `&state=s&code_challenge=${CHALLENGE}&code_challenge_method=plain`,
      'invalid_request',
      /transform algorithm/,
      's',
    ],
    [
      'the PKCE method is in another case',
      `&state=s&code_challenge=${CHALLENGE}&code_challenge_method=s256`,
      'invalid_request',
      /transform algorithm/,
      's',
    ],
    [
      'the PKCE challenge is absent',
      '&state=s&code_challenge_method=S256',
      'invalid_request',
      /without code_challenge/,
      's',
    ],
    [
      'the PKCE challenge is short',
      '&state=s&code_challenge=abc&code_challenge_method=S256',
      'invalid_request',
      /base64url/,
      's',
    ],
    [
      'the PKCE challenge is padded',
      `&state=s&code_challenge=${CHALLENGE}%3D&code_challenge_method=S256`,
      'invalid_request',
      /base64url/,
      's',
    ],
  ])('when %s', async (_case, query, error, description, state) => {
    const answer = await raw(base() + query);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toMatch(
      /^https:\/\/app\.example\.com\/callback\?tenant=7&x=%2F&error=/,
    );
    expect(handedBack(answer.headers['location'])).toEqual({
      tenant: '7',
      x: '/',
      error,
      // RFC 6749 4.1.2.1: %x20-21 / %x23-5B / %x5D-7E
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
      iss: BASE_URL,
      ...(state !== null && { state }),
    });
    expect(handedBack(answer.headers['location'])['error_description']).toMatch(description);
  });

  it('a public client must use PKCE', async () => {
    const answer = await get({ client_id: pocket.clientId, redirect_uri: 'com.example.pocket:/callback' });
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toMatch(
      /^com\.example\.pocket:\/callback\?error=invalid_request&error_description=code%20challenge%20required/,
    );
  });

  it.each([
    'a&b=c',
    'a+b',
    'a b',
    '100%',
    'a%26b',
    '%2526',
    '\\u00e9 "quoted" \'single\' <b>',
    '{"return_to":"/x?y=1#z"}',
    'é✓😀',
    '=?#/:;,@$!*()[]~|^`',
    'ey.J-_',
  ])('and to the login, with state %j byte for byte', async (state) => {
    const refused = await get({ state, scope: 'nope' });
    expect(handedBack(refused.headers['location'])['state']).toBe(state);
    const accepted = await get({ state });
    expect(new URLSearchParams(accepted.headers['location']?.split('?')[1]).get('state')).toBe(state);
  });
});

describe('what an error page shows', () => {
  it.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)",
    '${7*7}{{7*7}}',
  ])('never holds what was sent: %s', async (payload) => {
    const pages = await Promise.all([
      get({ client_id: payload }),
      get({ redirect_uri: payload }),
      get({ redirect_uri: undefined, state: payload }),
      app.browser().get(`/auth/${encodeURIComponent(payload)}`),
      raw(`client_id=x&${payload.replaceAll(/[ <>"]/g, encodeURIComponent)}=1`),
    ]);
    for (const page of pages) {
      expect(page.status).toBeGreaterThanOrEqual(400);
      expect(page.text).not.toContain(payload);
      expect(page.text).not.toMatch(/onerror|onfocus|<script/);
    }
  });
});
