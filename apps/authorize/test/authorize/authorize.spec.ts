import { APIS, KNOWN_RESOURCES, UNKNOWN_RESOURCES } from '#test/support/resources.js';
import { html } from '#ui/html.js';
import {
  authorize,
  BASE_URL,
  PKCE,
  REDIRECT_URI,
  redirectParameters,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';

const { app, client } = useAuthorizeApp(APIS);

const raw = (query: string) => app.browser().get(`/auth/oauth2/authorize?${query}`);

describe('a valid request without a session', () => {
  // @rfc 6749 3.1 @rfc 9700 4.12
  it('is redirected to the login page with the same query', async () => {
    const query = `client_id=${client.clientId}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}&state=a+b%20%2B%26&x=%41`;
    const answer = await raw(query);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(`/auth/login?${query}`);
  });

  it.each([
    // @deviation D2
    ['response_type is absent', {}],
    ['response_type is code', { response_type: 'code' }],
    ['response_mode is query', { response_mode: 'query' }],
    ['response_mode is form_post', { response_mode: 'form_post' }],
    ['response_mode has no value', { response_mode: '' }],
    ['scope is profile:read', { scope: 'profile:read' }],
    ['scope contains commas, spaces and repetitions', { scope: 'profile:read,  profile:read,' }],
    // @rfc 6749 3.1
    ['parameters have no value', { scope: '', response_type: '', code_challenge: '' }],
    // @rfc 6749 3.1
    ['there are OpenID Connect and unknown parameters', { prompt: 'login', nonce: 'n', 'x[y]': 'z' }],
    ['it uses PKCE with S256', PKCE],
    // @rfc 6749 3.1
    ['unknown parameters are repeated', '&x=1&x=2&%3Cb%22=&%3Cb%22=2&request=a&request=b'],
    ...KNOWN_RESOURCES.map(([name, encoded]): [string, string] => [`resource is given: ${name}`, encoded]),
    ['state has its maximum length', { state: 'x'.repeat(1024) }],
    ['state has 600 characters that are not Latin', { state: '語'.repeat(600) }],
  ])('is accepted when %s', async (_case, parameters) => {
    const [overrides, more] = typeof parameters === 'string' ? [{}, `&${parameters}`] : [parameters, ''];
    const answer = await authorize(app, client, overrides, more);
    expect(answer.headers['location']).toMatch(/^\/auth\/login\?/);
  });
});

// @rfc 6749 4.1.1 @rfc 6749 4.1.2.1 @rfc 9207 2 @deviation D10
describe('an error in a request with a registered redirect URI', () => {
  const base = () => `client_id=${client.clientId}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`;

  it.each<[string, string, string, RegExp, string | null]>([
    [
      'state is missing',
      '',
      'invalid_request',
      /'state' is missing: .*RFC 6749 10\.12.*passport-oauth2/,
      null,
    ],
    ['state is empty', '&state=', 'invalid_request', /'state' is missing/, null],
    [
      'state is too long',
      `&state=${'x'.repeat(1025)}`,
      'invalid_request',
      /longer than 1024/,
      'x'.repeat(1025),
    ],
    [
      'state is too long to be returned',
      `&state=${encodeURIComponent('語'.repeat(620))}`,
      'invalid_request',
      /longer than 5500 bytes/,
      null,
    ],
    ['state is an array', '&state[]=x', 'invalid_request', /'state' must be a single string/, null],
    // @rfc 6749 3.1
    ['state is repeated', '&state=a&state=b', 'invalid_request', /'state' is repeated/, null],
    ['state contains a NUL', '&state=a%00', 'invalid_request', /control character/, 'a\0'],
    [
      'state contains a line break',
      '&state=a%0d%0aSet-Cookie:x',
      'invalid_request',
      /control character/,
      'a\r\nSet-Cookie:x',
    ],
    ['state is not UTF-8', '&state=%ff', 'invalid_request', /UTF-8/, null],
    ['state contains raw bytes that are not UTF-8', '&state=a%E9', 'invalid_request', /UTF-8/, null],
    ['response_type is unknown', '&state=s&response_type=codes', 'unsupported_response_type', /code/, 's'],
    [
      'response_type is token, with response_mode=query',
      '&state=s&response_type=token&response_mode=query',
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
    ...['scope', 'prompt', 'code_challenge', 'dpop_jkt', 'login_hint'].map(
      (name) =>
        [
          `${name} is repeated`,
          `&state=s&${name}=&${name}=x`,
          'invalid_request',
          new RegExp(`'${name}' is repeated`),
          's',
        ] as [string, string, string, RegExp, string],
    ),
    ...UNKNOWN_RESOURCES.map(
      ([name, resource]) =>
        // @rfc 8707 2.1
        [
          `resource: ${name}`,
          `&state=s&${resource}`,
          'invalid_target',
          /^the parameter 'resource' .*https:\/\/api\.example\.com/,
          's',
        ] as [string, string, string, RegExp, string],
    ),
    ...['fragment', 'form_post.jwt', 'query.jwt', 'Query', 'query fragment'].map(
      (mode) =>
        [
          `response_mode is ${mode}`,
          `&state=s&response_mode=${mode}`,
          'invalid_request',
          /the values of response_mode are: query form_post/,
          's',
        ] as [string, string, string, RegExp, string],
    ),
    [
      'response_mode is repeated',
      '&state=s&response_mode=query&response_mode=query',
      'invalid_request',
      /'response_mode' is repeated/,
      's',
    ],
    [
      'scope is unknown',
      '&state=s&scope=profile:write+phone',
      'invalid_scope',
      /not request: profile:write phone; .*profile:read/,
      's',
    ],
    ['scope is malformed', '&state=s&scope=profile:read,a%22', 'invalid_scope', /scope tokens/, 's'],
    // @rfc 6749 3.3
    ['scope is in another case', '&state=s&scope=Profile:Read', 'invalid_scope', /profile:read/, 's'],
    [
      'scope is an object',
      '&state=s&scope[foo]=b',
      'invalid_request',
      /'scope' must be a single string/,
      's',
    ],
    ['scope is too long', `&state=s&scope=${'x'.repeat(1001)}`, 'invalid_request', /longer than 1000/, 's'],
    // @rfc 7636 4.3
    [
      'the PKCE method is absent',
      `&state=s&code_challenge=${PKCE.code_challenge}`,
      'invalid_request',
      /means plain/,
      's',
    ],
    // @rfc 7636 4.4.1 @rfc 7636 7.2
    [
      'the PKCE method is plain',
      `&state=s&code_challenge=${PKCE.code_challenge}&code_challenge_method=plain`,
      'invalid_request',
      /transform algorithm/,
      's',
    ],
    // @rfc 7636 4.4.1
    [
      'the PKCE method is in another case',
      `&state=s&code_challenge=${PKCE.code_challenge}&code_challenge_method=s256`,
      'invalid_request',
      /transform algorithm/,
      's',
    ],
    [
      'the PKCE challenge is absent',
      '&state=s&code_challenge_method=S256',
      'invalid_request',
      /requires code_challenge/,
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
      `&state=s&code_challenge=${PKCE.code_challenge}%3D&code_challenge_method=S256`,
      'invalid_request',
      /base64url/,
      's',
    ],
  ])('is returned to the client when %s', async (_case, query, error, description, state) => {
    const answer = await raw(base() + query);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toMatch(
      /^https:\/\/app\.example\.com\/callback\?tenant=7&x=%2F&error=/,
    );
    expect(redirectParameters(answer.headers['location'])).toEqual({
      tenant: '7',
      x: '/',
      error,
      // RFC 6749 4.1.2.1: %x20-21 / %x23-5B / %x5D-7E; error_uri excludes the space
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
      error_uri: expect.stringMatching(/^[\x21\x23-\x5b\x5d-\x7e]+\/errors#[a-z_]+$/),
      error_reference: expect.stringMatching(/^[\w-]{12}$/),
      iss: BASE_URL,
      ...(state !== null && { state }),
    });
    expect(redirectParameters(answer.headers['location'])['error_description']).toMatch(description);
  });

  // Multiple Response Type Encoding Practices 5
  // @rfc 6749 3.1.1 @rfc 9700 2.1.2
  it.each(['token', 'id_token', 'code+id_token', 'code+token', 'id_token+token&response_mode=fragment'])(
    'is returned in the fragment when response_type is %s, which is not supported',
    async (type) => {
      const answer = await raw(`${base()}&state=s&response_type=${type}`);
      expect(answer.status).toBe(303);
      const [address, fragment] = String(answer.headers['location']).split('#');
      expect(address).toMatch(/\?tenant=7&x=%2F$/);
      const { error, state, iss } = Object.fromEntries(new URLSearchParams(fragment));
      expect({ error, state, iss }).toEqual({
        error: 'unsupported_response_type',
        state: 's',
        iss: BASE_URL,
      });
    },
  );

  // @rfc 7636 4.4.1 @rfc 8252 6 @rfc 9700 2.1.1
  it('is returned to a public client that does not use PKCE', async () => {
    const redirect_uri = 'com.example.pocket:/callback';
    const pocket = await app.client({ type: 'public' }, redirect_uri);
    const answer = await authorize(app, pocket, { redirect_uri });
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toMatch(
      /^com\.example\.pocket:\/callback\?error=invalid_request&error_description=code%20challenge%20required/,
    );
  });

  // @rfc 6749 4.1.2 @deviation D4
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
  ])('includes the unchanged state %j, like the redirect to the login page', async (state) => {
    const refused = await authorize(app, client, { state, scope: 'nope' });
    expect(redirectParameters(refused.headers['location'])['state']).toBe(state);
    const accepted = await authorize(app, client, { state });
    expect(new URLSearchParams(accepted.headers['location']?.split('?')[1]).get('state')).toBe(state);
  });
});

describe('an error page', () => {
  // @rfc 6749 10.14
  it.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)",
    '${7*7}{{7*7}}',
  ])('shows request values as text only: %s', async (payload) => {
    const escaped = html`${payload}`.text;
    const pages = await Promise.all([
      authorize(app, client, { client_id: payload }),
      authorize(app, client, { redirect_uri: payload }),
      authorize(app, client, { redirect_uri: undefined, state: payload }),
      app.browser().get(`/auth/${encodeURIComponent(payload)}`),
      raw(`client_id=x&${payload.replaceAll(/[ <>"]/g, encodeURIComponent)}=1`),
    ]);
    for (const page of pages) {
      expect(page.status).toBeGreaterThanOrEqual(400);
      const rest = page.text.replaceAll(escaped, '');
      expect(rest).not.toContain(payload);
      expect(rest).not.toMatch(/onerror|onfocus|<script/);
    }
  });
});
