import { randomBytes } from 'node:crypto';
import request, { type Test } from 'supertest';
import { REDIRECT_URI, type TestClient } from '#testing/fixture.js';
import { startTokenApp, type TokenApp } from './token-app.js';

const TOKEN = '/api/auth/oauth/token';
const REFRESH = '/api/auth/oauth/refreshToken';

let app: TokenApp;
let client: TestClient;
let code: string;
let pair: { access_token: string; refresh_token: string };
let state: string;

beforeAll(async () => {
  app = await startTokenApp();
  client = await app.client();
  const userId = await app.user();
  const first = await app.code(client.client_id, userId);
  const body = { grant_type: 'authorization_code', code: first, redirect_uri: REDIRECT_URI, ...client };
  pair = (await request(app.server).post(TOKEN).send(body)).body as typeof pair;
  code = await app.code(client.client_id, userId);
  state = await snapshot();
});

afterAll(() => app.close());

/** Everything that a request could have changed. */
async function snapshot(): Promise<string> {
  const keys = (await app.redis.keys('*')).sort();
  return JSON.stringify(await Promise.all(keys.map(async (key) => [key, await app.redis.hgetall(key)])));
}

const valid = () => ({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client });
const send = (path: string) => request(app.server).post(path);
const form = (path: string, text: string) => send(path).type('application/x-www-form-urlencoded').send(text);
const encoded = (parameters: object) => new URLSearchParams(parameters as Record<string, string>).toString();
const bytes = (path: string, type: string, body: Buffer) =>
  send(path)
    .type(type)
    .serialize((raw: unknown) => raw as string)
    .send(body as unknown as string);
const without = (name: string) => Object.fromEntries(Object.entries(valid()).filter(([key]) => key !== name));
const refreshing = () => ({ grant_type: 'refresh_token', ...client });

type Case = [rule: string, send: () => Test, status: number, error: string];

const cases: Case[] = [
  ...['grant_type', 'code', 'client_id', 'redirect_uri'].flatMap((name): Case[] => [
    [`missing ${name}`, () => send(TOKEN).send(without(name)), 400, 'invalid_request'],
    [`empty ${name}`, () => form(TOKEN, encoded({ ...valid(), [name]: '' })), 400, 'invalid_request'],
    [`empty ${name} in JSON`, () => send(TOKEN).send({ ...valid(), [name]: '' }), 400, 'invalid_request'],
    [`repeated ${name}`, () => form(TOKEN, `${encoded(valid())}&${name}=again`), 400, 'invalid_request'],
    [
      `${name} repeated, once empty`,
      () => form(TOKEN, `${encoded(valid())}&${name}=`),
      400,
      'invalid_request',
    ],
    [
      `${name} repeated, first empty`,
      () => form(TOKEN, `${name}=&${encoded(valid())}`),
      400,
      'invalid_request',
    ],
    [
      `repeated ${name} in JSON`,
      () =>
        send(TOKEN)
          .type('json')
          .send(`{"${name}":"again",${JSON.stringify(valid()).slice(1)}`),
      400,
      'invalid_request',
    ],
    [`an object as ${name}`, () => send(TOKEN).send({ ...valid(), [name]: {} }), 400, 'invalid_request'],
    [`an array as ${name}`, () => send(TOKEN).send({ ...valid(), [name]: ['x'] }), 400, 'invalid_request'],
    [`a number as ${name}`, () => send(TOKEN).send({ ...valid(), [name]: 7 }), 400, 'invalid_request'],
    [`${name}[a]=b`, () => form(TOKEN, `${encoded(without(name))}&${name}[a]=b`), 400, 'invalid_request'],
    [
      `an over-long ${name}`,
      () => send(TOKEN).send({ ...valid(), [name]: 'x'.repeat(2001) }),
      400,
      'invalid_request',
    ],
    [`NUL in ${name}`, () => send(TOKEN).send({ ...valid(), [name]: 'a\u0000b' }), 400, 'invalid_request'],
    [
      `NUL in ${name} of a form`,
      () => form(TOKEN, `${encoded(without(name))}&${name}=a%00b`),
      400,
      'invalid_request',
    ],
    [`${name} outside ASCII`, () => send(TOKEN).send({ ...valid(), [name]: 'é' }), 400, 'invalid_request'],
  ]),
  ['missing client_secret', () => send(TOKEN).send(without('client_secret')), 401, 'invalid_client'],
  ['empty client_secret', () => send(TOKEN).send({ ...valid(), client_secret: '' }), 401, 'invalid_client'],
  [
    'an object as client_secret',
    () => send(TOKEN).send({ ...valid(), client_secret: {} }),
    400,
    'invalid_request',
  ],
  [
    'another grant_type',
    () => send(TOKEN).send({ ...valid(), grant_type: 'password' }),
    400,
    'unsupported_grant_type',
  ],
  [
    'a grant_type of other case',
    () => send(TOKEN).send({ ...valid(), grant_type: 'Authorization_Code' }),
    400,
    'unsupported_grant_type',
  ],
  ['a code that is none', () => send(TOKEN).send({ ...valid(), code: 'abc' }), 400, 'invalid_grant'],
  [
    'an access token as code',
    () => send(TOKEN).send({ ...valid(), code: pair.access_token }),
    400,
    'invalid_grant',
  ],
  [
    'a refresh token as code',
    () => send(TOKEN).send({ ...valid(), code: pair.refresh_token }),
    400,
    'invalid_grant',
  ],
  ['no body', () => send(TOKEN), 400, 'invalid_request'],
  [
    'the whole request in the URL (RFC 6749 2.3.1)',
    () => send(`${TOKEN}?${encoded(valid())}`),
    400,
    'invalid_request',
  ],
  ['an empty JSON body', () => send(TOKEN).type('json').send(''), 400, 'invalid_request'],
  ['malformed JSON', () => send(TOKEN).type('json').send('{"code":'), 400, 'invalid_request'],
  ['a JSON array', () => send(TOKEN).send([valid()]), 400, 'invalid_request'],
  ['a JSON string', () => send(TOKEN).type('json').send('"x"'), 400, 'invalid_request'],
  [
    'JSON arrays nested deeper than the stack is',
    () =>
      send(TOKEN)
        .type('json')
        .send(`{"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
    400,
    'invalid_request',
  ],
  [
    'JSON objects nested deeper than the stack is',
    () =>
      send(TOKEN)
        .type('json')
        .send(`{"code":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`),
    400,
    'invalid_request',
  ],
  [
    'a form with a broken percent-encoding',
    () => form(TOKEN, `${encoded(valid())}&x=%ZZ`),
    400,
    'invalid_request',
  ],
  [
    'a form with an encoding that is not UTF-8',
    () => form(TOKEN, `${encoded(valid())}&x=%ff`),
    400,
    'invalid_request',
  ],
  [
    'a form that is not UTF-8',
    () => bytes(TOKEN, 'application/x-www-form-urlencoded', Buffer.from([0x61, 0x3d, 0xff])),
    400,
    'invalid_request',
  ],
  [
    'JSON that is not UTF-8',
    () => bytes(TOKEN, 'application/json', Buffer.from([0x7b, 0xff, 0x7d])),
    400,
    'invalid_request',
  ],
  ['plain text', () => send(TOKEN).type('text/plain').send('code=x'), 415, 'invalid_request'],
  ['multipart', () => send(TOKEN).field('code', 'x'), 415, 'invalid_request'],
  [
    'a body of more than 64 KiB',
    () => send(TOKEN).send({ ...valid(), x: 'x'.repeat(65_536) }),
    413,
    'invalid_request',
  ],
  [
    '__proto__ as a parameter',
    () => send(TOKEN).type('json').send('{"__proto__":{"grant_type":"authorization_code"}}'),
    400,
    'invalid_request',
  ],
  [
    'credentials in the header and in the body',
    () => send(TOKEN).auth(client.client_id, client.client_secret).send(valid()),
    400,
    'invalid_request',
  ],
  [
    'another client_id in the body than in the header',
    () =>
      send(TOKEN)
        .auth(client.client_id, client.client_secret)
        .send({ ...without('client_secret'), client_id: 'sc_other' }),
    400,
    'invalid_request',
  ],
  [
    'Basic that is no base64',
    () => send(TOKEN).set('Authorization', 'Basic !!!').send(valid()),
    400,
    'invalid_request',
  ],
  [
    'Basic without a colon',
    () =>
      send(TOKEN)
        .set('Authorization', `Basic ${Buffer.from('abc').toString('base64')}`)
        .send({ ...without('client_secret') }),
    401,
    'invalid_client',
  ],
  ['a wrong method', () => request(app.server).get(TOKEN), 405, 'method_not_allowed'],
  ['another wrong method', () => request(app.server).delete(REFRESH), 405, 'method_not_allowed'],
  ['an unknown path', () => send('/api/auth/oauth/nothing').send({}), 404, 'not_found'],

  ['refresh without a token', () => send(REFRESH).send(refreshing()), 400, 'invalid_request'],
  [
    'refresh without grant_type',
    () => send(REFRESH).set('Authorization', `Bearer ${pair.refresh_token}`).send(client),
    400,
    'invalid_request',
  ],
  [
    'refresh with another grant_type',
    () => send(REFRESH).set('Authorization', `Bearer ${pair.refresh_token}`).send(valid()),
    400,
    'unsupported_grant_type',
  ],
  [
    'refresh without a body',
    () => send(REFRESH).set('Authorization', `Bearer ${pair.refresh_token}`),
    400,
    'invalid_request',
  ],
  [
    'refresh without a client',
    () =>
      send(REFRESH)
        .set('Authorization', `Bearer ${pair.refresh_token}`)
        .send({ grant_type: 'refresh_token' }),
    400,
    'invalid_request',
  ],
  [
    'refresh without client_secret',
    () =>
      send(REFRESH)
        .set('Authorization', `Bearer ${pair.refresh_token}`)
        .send({ grant_type: 'refresh_token', client_id: client.client_id }),
    401,
    'invalid_client',
  ],
  [
    'refresh with Basic where Bearer is due',
    () => send(REFRESH).auth(client.client_id, client.client_secret).send({ grant_type: 'refresh_token' }),
    400,
    'invalid_request',
  ],
  [
    'refresh with a malformed Authorization',
    () => send(REFRESH).set('Authorization', 'Bearer a b c').send(refreshing()),
    400,
    'invalid_request',
  ],
  [
    'refresh with Bearer and no token',
    () => send(REFRESH).set('Authorization', 'Bearer').send(refreshing()),
    400,
    'invalid_request',
  ],
  [
    'refresh with the token in header and body',
    () =>
      send(REFRESH)
        .set('Authorization', `Bearer ${pair.refresh_token}`)
        .send({ ...refreshing(), refresh_token: pair.refresh_token }),
    400,
    'invalid_request',
  ],
  [
    'refresh with the token in the URL',
    () => send(`${REFRESH}?access_token=${pair.refresh_token}`).send(refreshing()),
    400,
    'invalid_request',
  ],
  [
    'refresh with an over-long token',
    () =>
      send(REFRESH)
        .set('Authorization', `Bearer ${'x'.repeat(600)}`)
        .send(refreshing()),
    400,
    'invalid_request',
  ],
  [
    'an access token at refreshToken',
    () => send(REFRESH).set('Authorization', `Bearer ${pair.access_token}`).send(refreshing()),
    400,
    'invalid_grant',
  ],
  [
    'a code at refreshToken',
    () => send(REFRESH).set('Authorization', `Bearer ${code}`).send(refreshing()),
    400,
    'invalid_grant',
  ],
  [
    'a forged refresh token',
    () =>
      send(REFRESH)
        .set('Authorization', `Bearer srt_${randomBytes(63).toString('base64url')}`)
        .send(refreshing()),
    400,
    'invalid_grant',
  ],
];

describe('bad input at the token endpoints gets the standard error and changes nothing', () => {
  it.each(cases)('%s', async (_rule, sending, status, error) => {
    const answer = await sending();
    expect(answer.body).toEqual({
      error,
      // RFC 6749 5.2: no quotes, no backslashes, nothing outside ASCII
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
      error_reference: expect.stringMatching(/^[\w-]{12}$/),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers['cache-control']).toBe('no-store');
    for (const secret of [client.client_secret, code, pair.access_token, pair.refresh_token])
      expect(answer.text).not.toContain(secret);
    expect(await snapshot()).toBe(state);
  });

  it('names every problem of a request at once', async () => {
    const answer = await send(TOKEN).send({ grant_type: 'authorization_code' });
    expect(answer.body.error_description).toBe(
      "the parameter 'code' is missing; the parameter 'redirect_uri' is missing",
    );
  });

  it('says in Allow which method a path answers (RFC 9110 15.5.6)', async () => {
    expect((await request(app.server).get(TOKEN)).headers.allow).toBe('POST');
  });
});
