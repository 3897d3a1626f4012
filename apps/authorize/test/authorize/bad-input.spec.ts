import request, { type Test } from 'supertest';
import { AMBIGUOUS_HOSTS, exchange } from '#test/support/raw-http.js';
import {
  authorize,
  authorizeAddress,
  PKCE,
  REDIRECT_URI,
  redirectParameters,
  type RequestParameters,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';

const { app, client, user } = useAuthorizeApp();

describe('bad input', () => {
  const FORM = 'application/x-www-form-urlencoded';
  const FORMS_ONLY = ['/auth/logout-everywhere', '/auth/language'];
  const PATHS = [
    ...FORMS_ONLY,
    '/auth/logout',
    '/auth/login',
    '/auth/oauth2/authorize',
    '/auth/apps/revoke',
    '/auth/apps/revoke-all',
  ];

  const cases: [name: string, status: number, send: (path: string) => Test][] = [
    ['a JSON body', 415, (path) => request(app.url).post(path).send({ username: {} })],
    ['a text body', 415, (path) => request(app.url).post(path).type('text/plain').send('username=x')],
    ['a multipart body', 415, (path) => request(app.url).post(path).field('username', 'x')],
    [
      'a hostile content type',
      415,
      (path) => request(app.url).post(path).set('Content-Type', '<b>').send('x'),
    ],
    [
      'a body in gzip',
      415,
      (path) =>
        post(path, 'username=x')
          .set('Content-Encoding', 'gzip')
          .expect('Accept-Encoding', 'identity')
          .expect(/the body has a Content-Encoding/),
    ],
    ['a body over 64 KiB', 413, (path) => post(path, `username=${'x'.repeat(65_536)}`)],
    ['escapes that are not UTF-8', 400, (path) => post(path, 'username=%ff')],
    ['a broken escape', 400, (path) => post(path, 'username=%')],
    ['a repeated field', 400, (path) => post(path, 'username=a&username=b')],
    ['nested fields', 403, (path) => post(path, 'csrf_token[a]=b&username[]=c')],
    ['a hostile name', 403, (path) => post(path, '__proto__=x&constructor=y&<b>=z')],
    ['an empty body', 403, (path) => post(path, '')],
    ['no body', 403, (path) => request(app.url).post(path)],
    ['PUT', 405, (path) => request(app.url).put(path)],
    ['DELETE', 405, (path) => request(app.url).delete(path)],
    ['PATCH', 405, (path) => request(app.url).patch(path)],
    ['OPTIONS', 405, (path) => request(app.url).options(path)],
  ];

  function post(path: string, body: string): Test {
    return request(app.url).post(path).set('Content-Type', FORM).send(body);
  }

  describe.each(cases)('%s', (_name, status, send) => {
    it.each(PATHS)(`gets a page with status ${status} at %s`, async (path) => {
      const answer = await send(path);
      expect(answer.status).toBe(status);
      expect(answer.type).toBe('text/html');
      expect(answer.text).toMatch(/<h1>[^<]+<\/h1>/);
      expect(answer.text).toMatch(/Reference: <code>[\w-]{12}<\/code>/);
      expect(answer.text).not.toMatch(/<b>|statusCode|"error"/);
      if (status === 405)
        expect(answer.headers['allow']).toMatch(FORMS_ONLY.includes(path) ? /^POST$/ : /GET.*POST/);
    });
  });

  it.each(FORMS_ONLY)('GET %s is rejected with 405', async (path) => {
    const answer = await request(app.url).get(path);
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe('POST');
  });

  it.each([
    '/elsewhere',
    '/auth/nothing',
    '/%zz',
    '/auth/%c0%af',
    '/auth/%2e%2e/login',
    '/auth/login/',
    '//evil.example',
    '/favicon.ico',
  ])('%s gets a page with status 404', async (path) => {
    const answer = await request(app.url).get(path);
    expect(answer.status).toBe(404);
    expect(answer.type).toBe('text/html');
    expect(answer.text).not.toContain(path.slice(1) || 'Cannot GET');
  });

  describe('a malformed HTTP request', () => {
    it.each([
      [
        'raw bytes in the query',
        'GET /auth/login?client_id=x&state=\xff\xfe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
        400,
      ],
      [
        'raw quotes and angles in the query',
        'GET /auth/login?client_id=x&"><b> HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
        200,
      ],
      ['a NUL in the URL', 'GET /auth/login?\0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
      ['a header of 20 KiB', `GET /auth/login HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      ['a URL of 20 KiB', `GET /auth/login?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
      [
        'a body that is not UTF-8',
        `POST /auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 10\r\nConnection: close\r\n\r\nusername=\xff`,
        400,
      ],
      ['another protocol', 'EHLO evil.example\r\n\r\n', 400],
    ])('with %s gets an HTML page with the expected status', async (_case, text, status) => {
      const answer = await exchange(app.url, text);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toMatch(/content-type: text\/html/i);
      expect(answer).not.toMatch(/<b>|statusCode|\xff/);
      if (status !== 200) expect(answer).toMatch(/<main[^]*<a\b[^>]* href="\/auth\/[^]*<\/main>/);
    });
  });

  it('a request with any byte in its query is rejected or redirected to a URL without a fragment', async () => {
    const query = `client_id=${client.clientId}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}&state=`;
    const answered = async (byte: number): Promise<string> => {
      const head = `GET /auth/oauth2/authorize?${query}a${String.fromCharCode(byte)}b HTTP/1.1\r\nHost: a\r\n`;
      const answer = await exchange(app.url, `${head}Connection: close\r\n\r\n`);
      const [, location = ''] = /^location: ([^\r\n]*)/im.exec(answer) ?? [];
      expect(answer).toMatch(location === '' ? /^HTTP\/1.1 400 / : /^HTTP\/1.1 303 /);
      expect(location).toMatch(/^[!"$-~]*$/);
      return location;
    };
    const locations = await Promise.all(Array.from({ length: 256 }, (_, byte) => answered(byte)));
    expect(locations['x'.charCodeAt(0)]).toBe(`/auth/login?${query}axb`);
    expect(locations['#'.charCodeAt(0)]).toBe(`/auth/login?${query}a%23b`);
  });

  it.each(AMBIGUOUS_HOSTS)(
    'a request with %s gets a page with status 400, and the connection is closed',
    async (_name, head) => {
      const answer = await exchange(app.url, `GET /auth/login HTTP/1.1\r\n${head}\r\n`);
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      expect(answer).toMatch(/connection: close/i);
      expect(answer).toContain('the request must have one Host header');
      expect(answer).not.toMatch(/[ab]\.example/);
    },
  );
});

describe('optional state', () => {
  const stateless = () => app.client({ requireState: false });
  const WITHOUT = { state: undefined, ...PKCE };

  // @rfc 6749 4.1.2 @rfc 6749 4.1.2.1 @rfc 9700 2.1
  describe('an application whose state is optional', () => {
    it.each<[string, string, string, RequestParameters]>([
      ['Allow without a state', 'allow', 'code', WITHOUT],
      ['Cancel without a state', 'deny', 'error', WITHOUT],
      ['Allow with a state', 'allow', 'code', { ...PKCE, state: 's' }],
    ])('receives a state only if it sent one: %s', async (_case, decision, parameter, overrides) => {
      const { clientId } = await stateless();
      const browser = await app.loggedIn(user);
      const page = await browser.get(
        authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, ...overrides }),
      );
      expect(page.status).toBe(200);
      const answer = await browser.submit(page, { decision }, '/auth/oauth2/authorize');
      const returned = redirectParameters(answer.headers['location']);
      expect(Object.keys(returned)).toEqual(expect.arrayContaining([parameter, 'iss']));
      expect(returned['state']).toBe(overrides['state']);
      expect('state' in returned).toBe('state' in overrides && overrides['state'] !== undefined);
    });

    it.each<[string, RequestParameters]>([
      ['prompt=none without a login', { ...WITHOUT, prompt: 'none' }],
      ['no code challenge', { state: undefined }],
      ['a plain code challenge', { ...WITHOUT, code_challenge_method: 'plain' }],
    ])('gets an error without a state: %s', async (_case, overrides) => {
      const { headers } = await authorize(app, await stateless(), overrides);
      const returned = redirectParameters(headers['location']);
      expect(returned).toMatchObject({ error: expect.any(String), iss: app.configuration.BASE_URL });
      expect(returned).not.toHaveProperty('state');
    });

    it('needs a code challenge even if it has a secret', async () => {
      const { headers } = await authorize(app, await stateless(), {});
      expect(redirectParameters(headers['location'])).toMatchObject({
        error: 'invalid_request',
        error_description: expect.stringMatching(/^code challenge required, because state is optional/),
        state: 's',
      });
    });
  });
});
