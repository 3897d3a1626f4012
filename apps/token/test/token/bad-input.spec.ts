import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import request, { type Test } from 'supertest';
import { AMBIGUOUS_HOSTS, exchange } from '#test/support/raw-http.js';
import { useBadInput } from '../support/use-bad-input.js';

const { app, good, refuses, ...input } = useBadInput();

describe('bad input', () => {
  const TOKEN = '/api/auth/oauth/token';

  const send = () => input.send('token');
  const valid = () => app.redemption(good.code);
  const changed = (change: object) => send().send({ ...valid(), ...change });
  const without = (name: string) =>
    Object.fromEntries(Object.entries(valid()).filter(([key]) => key !== name));
  const encoded = (parameters: object) =>
    new URLSearchParams(parameters as Record<string, string>).toString();
  const form = (text: string) => send().type('application/x-www-form-urlencoded').send(text);
  const json = (text: string) => send().type('json').send(text);
  const bytes = (type: string, body: Buffer): Test =>
    send()
      .type(type)
      .serialize((raw: unknown) => raw as string)
      .send(body as unknown as string);
  const basic = () => send().auth(app.ours.client_id, app.ours.client_secret);
  const nested = (open: string, inner: string, close: string, depth: number) =>
    `${open.repeat(depth)}${inner}${close.repeat(depth)}`;

  // @rfc 6749 5.2
  describe('the token app', () => {
    for (const name of ['grant_type', 'code', 'client_id', 'redirect_uri'])
      refuses(400, 'invalid_request', {
        [`a missing ${name}`]: () => send().send(without(name)),
        // @rfc 6749 3.2
        [`an empty ${name}`]: () => form(encoded({ ...valid(), [name]: '' })),
        [`an empty ${name} in JSON`]: () => changed({ [name]: '' }),
        // @rfc 6749 3.2
        [`a repeated ${name}`]: () => form(`${encoded(valid())}&${name}=again`),
        [`a repeated ${name}, the second empty`]: () => form(`${encoded(valid())}&${name}=`),
        [`a repeated ${name}, the first empty`]: () => form(`${name}=&${encoded(valid())}`),
        [`a repeated ${name} in JSON`]: () => json(`{"${name}":"again",${JSON.stringify(valid()).slice(1)}`),
        [`an object as ${name}`]: () => changed({ [name]: {} }),
        [`an array as ${name}`]: () => changed({ [name]: ['x'] }),
        [`a number as ${name}`]: () => changed({ [name]: 7 }),
        [`${name}[a]=b`]: () => form(`${encoded(without(name))}&${name}[a]=b`),
        [`an over-long ${name}`]: () => changed({ [name]: 'x'.repeat(2001) }),
        [`NUL in ${name}`]: () => changed({ [name]: 'a\u0000b' }),
        [`NUL in ${name} of a form`]: () => form(`${encoded(without(name))}&${name}=a%00b`),
        [`${name} outside ASCII`]: () => changed({ [name]: 'é' }),
      });

    refuses(401, 'invalid_client', {
      // @rfc 6749 3.2.1 @rfc 9700 2.5
      'a missing client_secret': () => send().send(without('client_secret')),
      'an empty client_secret': () => changed({ client_secret: '' }),
      'Basic without a colon': () =>
        send()
          .set('Authorization', `Basic ${Buffer.from('abc').toString('base64')}`)
          .send(without('client_secret')),
    });

    refuses(400, 'unsupported_grant_type', {
      // @rfc 6749 5.2
      'another grant_type': () => changed({ grant_type: 'password' }),
      'a grant_type in the wrong case': () => changed({ grant_type: 'Authorization_Code' }),
    });

    refuses(400, 'invalid_grant', {
      'a malformed code': () => changed({ code: 'abc' }),
      'an access token as code': () => changed({ code: good.access_token }),
      'a refresh token as code': () => changed({ code: good.refresh_token }),
    });

    refuses(400, 'invalid_request', {
      'an object as client_secret': () => changed({ client_secret: {} }),
      // @rfc 6749 2.3
      'credentials in the header and in the body': () => basic().send(valid()),
      // @rfc 6749 2.3
      'different client_ids in the header and in the body': () =>
        basic().send({ ...without('client_secret'), client_id: 'sc_other' }),
      'Basic that is not base64': () => send().set('Authorization', 'Basic !!!').send(valid()),
      // @rfc 6749 2.3.1
      'the whole request in the URL (RFC 6749 2.3.1)': () => input.send(`token?${encoded(valid())}`),
      'no body': () => send(),
      'an empty JSON body': () => json(''),
      'malformed JSON': () => json('{"code":'),
      'a JSON array': () => send().send([valid()]),
      'a JSON string': () => json('"x"'),
      'JSON arrays nested deeper than the stack': () => json(`{"x":${nested('[', '', ']', 30_000)}}`),
      'JSON objects nested deeper than the stack': () => json(`{"code":${nested('{"a":', '1', '}', 9_000)}}`),
      'a form with a broken percent-encoding': () => form(`${encoded(valid())}&x=%ZZ`),
      'a form with an encoding that is not UTF-8': () => form(`${encoded(valid())}&x=%ff`),
      'a form that is not UTF-8': () =>
        bytes('application/x-www-form-urlencoded', Buffer.from([0x61, 0x3d, 0xff])),
      'JSON that is not UTF-8': () => bytes('application/json', Buffer.from([0x7b, 0xff, 0x7d])),
      '__proto__ as a parameter': () => json('{"__proto__":{"grant_type":"authorization_code"}}'),
    });

    it.each<[sent: string, send: () => Test, description: RegExp]>([
      ['the parameters in the URL', () => input.send(`token?${encoded(valid())}`), /URL are ignored/],
      [
        'a secret in the URL',
        () => input.send('token?client_secret=x').send(without('client_secret')),
        /URL are ignored/,
      ],
      ['a GET request', () => request(app.server).get(`${TOKEN}?${encoded(valid())}`), /URL are ignored/],
      ['JSON as a form', () => form(JSON.stringify(valid(), null, 2)), /send application\/json/],
      ['a form as JSON', () => json(encoded(valid())), /application\/x-www-form-urlencoded/],
    ])('names the mistake in the response to %s', async (_sent, sending, description) => {
      const { body } = await sending();
      expect((body as { error_description: string }).error_description).toMatch(description);
    });

    it('does not mention unknown parameters in the URL', async () => {
      const { body } = await input.send('token?tenant=7').send(without('code'));
      expect(body).toMatchObject({ error_description: "the parameter 'code' is missing" });
    });

    refuses(413, 'invalid_request', {
      'a body of more than 64 KiB': () => changed({ x: 'x'.repeat(65_536) }),
    });
    const coded = (coding: string, encode: (text: string) => Buffer) =>
      bytes('application/x-www-form-urlencoded', encode(encoded(valid()))).set('Content-Encoding', coding);
    const CODED: Readonly<Record<string, () => Test>> = {
      'a form in gzip': () => coded('gzip', gzipSync),
      'a form in deflate': () => coded('deflate', deflateSync),
      'a form in br': () => coded('br', brotliCompressSync),
      'a form in two codings': () => coded('identity, gzip', gzipSync),
      'a form in an unknown coding': () => coded('rot13', (text) => Buffer.from(text)),
      'JSON in gzip': () =>
        bytes('application/json', gzipSync(JSON.stringify(valid()))).set('Content-Encoding', 'GZIP'),
    };
    refuses(415, 'invalid_request', CODED);

    it.each(Object.entries(CODED))(
      'names the accepted coding in the response to %s (RFC 9110 12.5.3)',
      async (_name, sending) => {
        const answer = await sending();
        expect(answer.headers['accept-encoding']).toBe('identity');
        expect(answer.body.error_description).toBe('the body has a Content-Encoding: send it uncompressed');
      },
    );

    refuses(415, 'invalid_request', {
      'plain text': () => send().type('text/plain').send('code=x'),
      'a multipart body': () => send().field('code', 'x'),
    });
    refuses(405, 'method_not_allowed', {
      // @rfc 6749 3.2
      'a wrong method': () => request(app.server).get(TOKEN),
    });
    refuses(404, 'not_found', { 'an unknown path': () => input.send('nothing').send({}) });

    it('names every problem with a request in one response', async () => {
      const answer = await send().send({ grant_type: 'authorization_code' });
      expect(answer.body.error_description).toBe(
        "the parameter 'code' is missing; the parameter 'redirect_uri' is missing",
      );
    });

    it('names the permitted method of a path in Allow (RFC 9110 15.5.6)', async () => {
      expect((await request(app.server).get(TOKEN)).headers.allow).toBe('POST');
    });

    it.each(AMBIGUOUS_HOSTS)(
      'refuses a request, and closes the connection (RFC 9112 3.2): %s',
      async (_name, head) => {
        const body = encoded(valid());
        const type = 'Content-Type: application/x-www-form-urlencoded\r\n';
        const sent = `POST ${TOKEN} HTTP/1.1\r\n${head}${type}Content-Length: ${body.length}\r\n\r\n${body}`;
        const [answered = '', json = ''] = (await exchange(app.url, sent)).split('\r\n\r\n');
        expect(answered).toMatch(/^HTTP\/1.1 400 [^]*connection: close/i);
        expect(answered).toMatch(/^x-content-type-options: nosniff\r$/im);
        expect(JSON.parse(json)).toEqual({
          error: 'invalid_request',
          error_description: 'the request must have one Host header',
          error_uri: expect.stringMatching(/#host_header_invalid$/),
          error_reference: expect.any(String),
        });
      },
    );

    it('accepts a single Host header, and HTTP/1.0 without a Host header', async () => {
      const get = (head: string) =>
        exchange(app.url, `GET /.well-known/oauth-authorization-server ${head}\r\n`);
      const answers = await Promise.all([
        get('HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n'),
        get('HTTP/1.1\r\nHost:\r\nConnection: close\r\n'),
        get('HTTP/1.0\r\n'),
      ]);
      for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 200 /);
    });
  });
});

describe('bad input refresh', () => {
  const send = () => input.send('refreshToken');
  const bearer = (token: string) => send().set('Authorization', `Bearer ${token}`);
  const refreshing = () => ({ grant_type: 'refresh_token', ...app.ours });

  describe('POST /api/auth/oauth/refreshToken', () => {
    refuses(400, 'invalid_request', {
      'a refresh without a token': () => send().send(refreshing()),
      'a refresh without grant_type': () => bearer(good.refresh_token).send(app.ours),
      'a refresh without a body': () => bearer(good.refresh_token),
      'a refresh without a client': () => bearer(good.refresh_token).send({ grant_type: 'refresh_token' }),
      'a refresh with Basic instead of Bearer': () =>
        send().auth(app.ours.client_id, app.ours.client_secret).send({ grant_type: 'refresh_token' }),
      'a refresh with a malformed Authorization header': () => bearer('a b c').send(refreshing()),
      'a refresh with Bearer but no token': () => send().set('Authorization', 'Bearer').send(refreshing()),
      'a refresh with the token in the header and in the body': () =>
        bearer(good.refresh_token).send({ ...refreshing(), refresh_token: good.refresh_token }),
      'a refresh with the token in the URL': () =>
        input.send(`refreshToken?access_token=${good.refresh_token}`).send(refreshing()),
      'a refresh with an over-long token': () => bearer('x'.repeat(600)).send(refreshing()),
    });

    refuses(400, 'unsupported_grant_type', {
      'a refresh with another grant_type': () => bearer(good.refresh_token).send(app.redemption(good.code)),
    });

    refuses(401, 'invalid_client', {
      'a refresh without client_secret': () =>
        bearer(good.refresh_token).send({ grant_type: 'refresh_token', client_id: app.ours.client_id }),
    });

    refuses(400, 'invalid_grant', {
      'an access token at refreshToken': () => bearer(good.access_token).send(refreshing()),
      'a code at refreshToken': () => bearer(good.code).send(refreshing()),
      'a forged refresh token': () =>
        bearer(`srt_${randomBytes(63).toString('base64url')}`).send(refreshing()),
    });

    refuses(405, 'method_not_allowed', {
      'a wrong method': () => request(app.server).delete('/api/auth/oauth/refreshToken'),
    });
  });
});
