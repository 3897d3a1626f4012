import { createHash, randomBytes } from 'node:crypto';
import request, { type Test } from 'supertest';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { APIS, KNOWN_RESOURCES, UNKNOWN_RESOURCES } from '#test/support/resources.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';

const PAR = '/api/auth/oauth/par';
const URN = /^urn:ietf:params:oauth:request_uri:([\w-]{43})$/;
const CHALLENGE = createHash('sha256').update('verifier').digest('base64url');

let app: TokenApp;
let client: TestClient;
let open: { readonly client_id: string };

beforeAll(async () => {
  app = await startTokenApp(APIS);
  client = await app.client();
  open = await app.publicClient('com.example.pocket:/callback');
});

afterAll(() => app.close());

const send = () => request(app.server).post(PAR);
const form = (text: string) => send().type('form').send(text);
const encoded = (parameters: object) => new URLSearchParams(parameters as Record<string, string>).toString();
const authorization = () => ({ response_type: 'code', redirect_uri: REDIRECT_URI, state: 's 1&é' });
const valid = () => ({ ...authorization(), ...client });
const without = (name: string) => Object.fromEntries(Object.entries(valid()).filter(([key]) => key !== name));
/** Returns the keys that were added since `before`, even if others have expired. */
const newSince = async (before: readonly string[]) => (await keys()).filter((key) => !before.includes(key));
const keys = () => app.redis.keys('{par}:request:*');

describe('POST /api/auth/oauth/par (RFC 9126)', () => {
  // @rfc 9126 2 @rfc 9126 2.2
  it('returns a request_uri and its lifetime with status 201 (2.2)', async () => {
    const answer = await form(encoded(valid()));
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ request_uri: expect.stringMatching(URN), expires_in: 300 });
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  });

  // @rfc 9126 2.2
  it('returns a new request_uri for every push', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => send().send(valid())));
    expect(new Set(answers.map(({ body }) => body.request_uri)).size).toBe(50);
  });

  // @rfc 9126 2.2
  it('stores only the checked request, under a hash of the reference, for 5 minutes', async () => {
    const before = await keys();
    const began = Date.now();
    const { body } = await send().send({
      ...valid(),
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      scope: 'profile:read '.repeat(70),
      prompt: 'consent consent',
      nonce: 'n',
      x: 'y'.repeat(10_000),
    });
    const [, reference = ''] = URN.exec(body.request_uri as string) ?? [];
    const key = `{par}:request:${createHash('sha256').update(reference).digest('base64url')}`;
    expect(await newSince(before)).toEqual([key]);
    const stored = await app.redis.hgetall(key);
    const { parameters = '', ...rest } = stored;
    expect(rest).toEqual({ status: 'pushed', client: client.client_id });
    const { response_type: _code, ...sent } = authorization();
    expect(JSON.parse(parameters)).toEqual({
      ...sent,
      code_challenge: CHALLENGE,
      scope: 'profile:read',
      prompt: 'consent',
    });
    const text = JSON.stringify(stored);
    for (const secret of [reference, client.client_secret]) expect(text).not.toContain(secret);
    const ttl = await app.redis.pttl(key);
    expect(ttl).toBeGreaterThanOrEqual(300_000 - 1_000 - (Date.now() - began));
    expect(ttl).toBeLessThanOrEqual(300_000);
  });

  it('stores less than 7 KB for the longest request without openid', async () => {
    const before = await keys();
    const wide = (length: number) => '\u{ffff}'.repeat(length);
    const longest = { state: wide(611), login_hint: wide(254), ui_locales: wide(200), dpop_jkt: CHALLENGE };
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const prompt = 'login consent select_account';
    expect((await send().send({ ...valid(), ...longest, ...pkce, prompt })).status).toBe(201);
    const [key = ''] = await newSince(before);
    // A registered redirect URI is up to 2000 bytes long.
    expect(await app.redis.hstrlen(key, 'parameters')).toBeLessThan(7_000 - 2_000);
  });

  // @rfc 9126 2.1
  it('accepts HTTP Basic with or without a client_id, and a public client by its client_id', async () => {
    const basic = () => send().auth(client.client_id, client.client_secret);
    expect((await basic().send(authorization())).status).toBe(201);
    expect((await basic().send({ ...authorization(), client_id: client.client_id })).status).toBe(201);
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const pocket = { ...open, redirect_uri: 'com.example.pocket:/callback', state: 's', ...pkce };
    expect((await send().send(pocket)).status).toBe(201);
  });

  it('challenges a client whose HTTP Basic authentication fails (RFC 6749 5.2)', async () => {
    const answer = await send().auth(client.client_id, 'wrong').send(authorization());
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
  });

  // @rfc 9126 2
  it('is listed in the metadata (5)', async () => {
    const { body } = await request(app.server).get('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      pushed_authorization_request_endpoint: `https://base.example.com${PAR}`,
      require_pushed_authorization_requests: false,
    });
  });

  // @rfc 8707 2.1
  it.each(KNOWN_RESOURCES)('accepts a resource (RFC 8707 2.1): %s', async (_name, resource) => {
    expect((await form(`${encoded(valid())}&${resource}`)).status).toBe(201);
  });

  it('ignores unknown parameters, even repeated ones (RFC 6749 3.1)', async () => {
    const before = await keys();
    expect((await form(`${encoded(valid())}&x=1&x=2&x[y]=3`)).status).toBe(201);
    const [key = ''] = await newSince(before);
    expect(await app.redis.hget(key, 'parameters')).not.toMatch(/[?&]x[=%]/);
  });

  it('can be called from a browser, like the token endpoint', async () => {
    const answer = await send().set('Origin', 'https://spa.example.com').send(valid());
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });
});

it('a push gets 503 with Retry-After while Redis is unavailable', async () => {
  const cut = await startTokenApp({ REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    const answer = await request(cut.server)
      .post(PAR)
      .send({ ...authorization(), ...(await cut.client()) });
    expect([answer.status, answer.body.error]).toEqual([503, 'temporarily_unavailable']);
    expect(answer.headers['retry-after']).toBe('1');
  } finally {
    await cut.close();
  }
});

describe('the pushed authorization request endpoint', () => {
  type Case = [rule: string, send: () => Test, status: number, error: string];
  const secret = () => `scs_${randomBytes(32).toString('base64url')}`;
  const pkce = (challenge: object) => send().send({ ...valid(), ...challenge });

  const cases: Case[] = [
    ...['redirect_uri', 'state', 'client_id'].flatMap((name): Case[] => [
      [`a missing ${name}`, () => send().send(without(name)), 400, 'invalid_request'],
      [`an empty ${name}`, () => form(encoded({ ...valid(), [name]: '' })), 400, 'invalid_request'],
    ]),
    ...[
      'redirect_uri',
      'state',
      'client_id',
      'scope',
      'response_type',
      'code_challenge',
      'request_uri',
    ].flatMap((name): Case[] => [
      [
        `a repeated ${name}`,
        () => form(`${encoded({ ...valid(), [name]: 'a' })}&${name}=b`),
        400,
        'invalid_request',
      ],
      [`an object as ${name}`, () => send().send({ ...valid(), [name]: {} }), 400, 'invalid_request'],
      [`a number as ${name}`, () => send().send({ ...valid(), [name]: 7 }), 400, 'invalid_request'],
      [`${name}[a]=b`, () => form(`${encoded(without(name))}&${name}[a]=b`), 400, 'invalid_request'],
      [
        `an over-long ${name}`,
        () => send().send({ ...valid(), [name]: 'x'.repeat(2001) }),
        400,
        'invalid_request',
      ],
      [`NUL in ${name}`, () => send().send({ ...valid(), [name]: 'a\0b' }), 400, 'invalid_request'],
      [
        `a lone surrogate in ${name}`,
        () => send().send({ ...valid(), [name]: 'a\ud800' }),
        400,
        'invalid_request',
      ],
    ]),
    // @rfc 9126 2.1
    [
      'a request_uri (2.1)',
      () => send().send({ ...valid(), request_uri: `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}` }),
      400,
      'invalid_request',
    ],
    // @rfc 9126 2.1 @rfc 9126 7.2
    [
      'another redirect_uri',
      () => send().send({ ...valid(), redirect_uri: 'https://evil.example/' }),
      400,
      'invalid_request',
    ],
    [
      'another response_type',
      () => send().send({ ...valid(), response_type: 'token' }),
      400,
      'unsupported_response_type',
    ],
    [
      'another response_mode',
      () => send().send({ ...valid(), response_mode: 'fragment' }),
      400,
      'invalid_request',
    ],
    // @rfc 9126 3 @openid core 6.1
    [
      'only a request object',
      () => send().send({ ...client, request: 'a.b.c' }),
      400,
      'request_not_supported',
    ],
    // @rfc 9126 2.1
    ['an unknown scope', () => send().send({ ...valid(), scope: 'root' }), 400, 'invalid_scope'],
    ...UNKNOWN_RESOURCES.map(([name, resource]): Case => [
      `a resource (${name})`,
      () => form(`${encoded(valid())}&${resource}`),
      400,
      'invalid_target',
    ]),
    ['a number as resource', () => send().send({ ...valid(), resource: 7 }), 400, 'invalid_target'],
    // @rfc 7636 7.2
    [
      'a plain challenge',
      () => pkce({ code_challenge: CHALLENGE, code_challenge_method: 'plain' }),
      400,
      'invalid_request',
    ],
    ['a challenge without method', () => pkce({ code_challenge: CHALLENGE }), 400, 'invalid_request'],
    ['a method without challenge', () => pkce({ code_challenge_method: 'S256' }), 400, 'invalid_request'],
    // @rfc 9126 2.1
    [
      'a public client without PKCE',
      () => send().send({ ...open, redirect_uri: 'com.example.pocket:/callback', state: 's' }),
      400,
      'invalid_request',
    ],
    ['a public client with a secret', () => send().send({ ...valid(), ...open }), 401, 'invalid_client'],
    ['no client_secret', () => send().send(without('client_secret')), 401, 'invalid_client'],
    // @rfc 9126 2.1
    [
      'a wrong client_secret',
      () => send().send({ ...valid(), client_secret: secret() }),
      401,
      'invalid_client',
    ],
    ['an unknown client', () => send().send({ ...valid(), client_id: 'sc_nobody' }), 401, 'invalid_client'],
    [
      'credentials in the header and in the body',
      () => send().auth(client.client_id, client.client_secret).send(valid()),
      400,
      'invalid_request',
    ],
    [
      'different client_ids in the header and in the body',
      () =>
        send()
          .auth(client.client_id, client.client_secret)
          .send({ ...authorization(), client_id: 'sc_other' }),
      400,
      'invalid_request',
    ],
    [
      'the request in the URL',
      () => request(app.server).post(`${PAR}?${encoded(valid())}`),
      400,
      'invalid_request',
    ],
    ['no body', () => send(), 400, 'invalid_request'],
    ['malformed JSON', () => send().type('json').send('{"state":'), 400, 'invalid_request'],
    ['plain text', () => send().type('text/plain').send('state=x'), 415, 'invalid_request'],
    [
      'a body of more than 64 KiB',
      () => send().send({ ...valid(), x: 'x'.repeat(65_536) }),
      413,
      'invalid_request',
    ],
    ['a wrong method', () => request(app.server).get(PAR), 405, 'method_not_allowed'],
  ];

  // @rfc 9126 2.3
  it.each(cases)(
    'refuses a request with the standard error, and stores nothing: %s',
    async (_rule, sending, status, error) => {
      const before = await keys();
      const answer = await sending();
      expectStandardError(answer, status, error);
      expect(answer.text).not.toContain(client.client_secret);
      expect(await newSince(before)).toEqual([]);
    },
  );
});
