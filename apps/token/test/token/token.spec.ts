import { createHash, randomBytes } from 'node:crypto';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp();

const post = (body: object) => app.post('token', body);
const refresh = (refresh_token: string) => post({ grant_type: 'refresh_token', refresh_token, ...app.ours });

describe('POST /api/auth/oauth/token', () => {
  // @rfc 6749 3.3 @rfc 6749 4.1.4 @rfc 6750 4 @rfc 7636 5
  it('exchanges a code for a token pair (specification 4.2, RFC 6749 5.1)', async () => {
    const answer = await post(app.redemption(await app.ourCode()));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^sat_[\w-]{84}$/),
      refresh_token: expect.stringMatching(/^srt_[\w-]{84}$/),
      token_type: 'Bearer',
      expires_in: 1800,
      scope: 'profile:read',
    });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'content-type': expect.stringMatching(/^application\/json/),
    });
  });

  // @rfc 6749 2.3.1 @deviation D6
  it('accepts a form as well as JSON', async () => {
    const answer = await post(app.redemption(await app.ourCode())).type('form');
    expect(answer.status).toBe(200);
  });

  it.each([
    ['a line feed', '\n'],
    ['CRLF', '\r\n'],
  ])('accepts a form that ends with %s, which some programs send', async (_name, end) => {
    const form = new URLSearchParams({ ...app.redemption(await app.ourCode()) }).toString();
    for (const more of [`\n${end}`, `${end} `, `${end}&x=1`])
      expect((await app.post('token', form + more)).body).toMatchObject({ error: 'invalid_request' });
    expect((await app.post('token', form + end)).status).toBe(200);
  });

  it.each(['identity', ''])('accepts a body whose Content-Encoding is %j', async (coding) => {
    const body = app.redemption(await app.ourCode());
    expect((await app.post('token', body).set('Content-Encoding', coding)).status).toBe(200);
  });

  // @rfc 6749 2.3.1
  it('authenticates the client by form-encoded credentials in HTTP Basic (RFC 6749 2.3.1)', async () => {
    const { client_id, client_secret, ...body } = app.redemption(await app.ourCode());
    const encoded = (text: string) => text.replaceAll('_', '%5F');
    const answer = await post(body).auth(encoded(client_id), encoded(client_secret)).type('form');
    expect(answer.status).toBe(200);
  });

  // @rfc 6749 3.2
  it('ignores unknown parameters (RFC 6749 3.2)', async () => {
    const code = await app.ourCode();
    const answer = await post({ ...app.redemption(code), utm_source: 'x', deep: { er: ['y', null] } });
    expect(answer.status).toBe(200);
  });

  // @rfc 6749 3.1
  it('ignores repeated unknown parameters (RFC 6749 3.2)', async () => {
    const code = new URLSearchParams({ ...app.redemption(await app.ourCode()) }).toString();
    await app.post('token', `${code}&x=1&x=2&audience=a&audience=b&y[z]=1&y=2`).expect(200);
  });

  // @rfc 6749 4.1.3
  it('refuses a code of another client, and leaves the code usable', async () => {
    const code = await app.ourCode();
    const other = await app.client();
    const stolen = await post({ ...app.redemption(code), ...other });
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
    expect((await post(app.redemption(code))).status).toBe(200);
  });

  // @rfc 6749 4.1.3
  it('refuses a redirect_uri that was not authorized, and leaves the code usable (RFC 6749 4.1.3)', async () => {
    const code = await app.ourCode();
    for (const redirect_uri of [
      'https://app.example.com/callback',
      `${REDIRECT_URI}&x=1`,
      REDIRECT_URI.toUpperCase(),
    ]) {
      const answer = await post({ ...app.redemption(code), redirect_uri });
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
    }
    expect((await post(app.redemption(code))).status).toBe(200);
  });

  // @rfc 6749 4.1.3
  it.each([
    ['http://localhost:51004', 'http://localhost:51004/'],
    ['http://127.0.0.1:51004/callback', 'http://127.0.0.1:51005/callback'],
  ])('compares a loopback redirect_uri %s exactly, and refuses %s', async (redirectUri, other) => {
    const redemption = app.redemption(await app.ourCode({ redirectUri }));
    const answer = await post({ ...redemption, redirect_uri: other });
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
    expect((await post({ ...redemption, redirect_uri: redirectUri })).status).toBe(200);
  });

  // @rfc 6749 3.2.1
  it('refuses a wrong secret and an unknown client with the same response, and leaves the code usable', async () => {
    const code = await app.ourCode();
    const wrong = await post({
      ...app.redemption(code),
      client_secret: `scs_${randomBytes(32).toString('base64url')}`,
    });
    const unknown = await post({ ...app.redemption(code), client_id: 'sc_nobody' });
    expect(wrong.status).toBe(401);
    expect({ ...wrong.body, error_reference: '' }).toEqual({ ...unknown.body, error_reference: '' });
    expect(wrong.body.error).toBe('invalid_client');
    expect((await post(app.redemption(code))).status).toBe(200);
  });

  // @rfc 6749 5.2
  it('challenges a client whose HTTP Basic authentication fails (RFC 6749 5.2)', async () => {
    const answer = await post({
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: REDIRECT_URI,
    }).auth(app.ours.client_id, 'wrong');
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      401,
      expect.stringMatching(/^Basic /),
    ]);
  });

  it('accepts a client that is registered after a request with its client_id', async () => {
    const late = {
      client_id: `sc_late${randomBytes(6).toString('hex')}`,
      client_secret: app.ours.client_secret,
    };
    expect((await post({ ...app.redemption('x'), ...late })).body.error).toBe('invalid_client');
    const hash = createHash('sha256').update(late.client_secret).digest();
    await app.clients.create({
      clientId: late.client_id,
      name: 'Late',
      type: 'confidential',
      scopes: ['profile:read'],
      redirectUris: [REDIRECT_URI],
      secretHash: hash,
    });
    await app.announce('oauth.client.changed', { client_id: late.client_id });
    await app.settled();
    expect((await post({ ...app.redemption('x'), ...late })).body.error).toBe('invalid_grant');
  });

  // @rfc 6749 4.1.2 @reliability one-redemption
  it('accepts one of 500 concurrent redemptions of a code, and revokes its tokens', async () => {
    const code = await app.ourCode();
    const answers = await Promise.all(Array.from({ length: 500 }, () => post(app.redemption(code))));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error))).toEqual(
      new Set(['invalid_grant']),
    );
    expect((await refresh(won[0]?.body.refresh_token as string)).body.error).toBe('invalid_grant');
  });

  // @rfc 6749 4.1.2 @rfc 9700 4.2.4
  it('revokes the grant when a code is presented again (RFC 6749 4.1.2)', async () => {
    const code = await app.ourCode();
    const { refresh_token } = (await post(app.redemption(code))).body as { refresh_token: string };
    expect((await post(app.redemption(code))).body.error).toBe('invalid_grant');
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant');
  });

  it('refreshes tokens (RFC 6749 6)', async () => {
    const first = await app.pair();
    const answer = await refresh(first.refresh_token);
    expect(answer.status).toBe(200);
    expect(answer.body.refresh_token).not.toBe(first.refresh_token);
  });
});

describe('PKCE at the token endpoint (RFC 7636)', () => {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');

  // @rfc 7636 4.2
  it('redeems a code with the verifier of its challenge', async () => {
    const code = await app.ourCode({ challenge });
    expect((await post({ ...app.redemption(code), code_verifier: verifier })).status).toBe(200);
  });

  // @rfc 7636 4.6 @rfc 9700 4.5.3
  it('invalidates the code after a wrong verifier (4.6)', async () => {
    const code = await app.ourCode({ challenge });
    const wrong = await post({
      ...app.redemption(code),
      code_verifier: randomBytes(32).toString('base64url'),
    });
    expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_grant']);
    expect((await post({ ...app.redemption(code), code_verifier: verifier })).body.error).toBe(
      'invalid_grant',
    );
  });

  // @rfc 9700 2.1.1
  it('refuses a missing verifier, and a verifier without a challenge (RFC 9700 2.1.1)', async () => {
    const bound = await app.ourCode({ challenge });
    expect((await post(app.redemption(bound))).body.error).toBe('invalid_grant');
    const free = await app.ourCode();
    expect((await post({ ...app.redemption(free), code_verifier: verifier })).body.error).toBe(
      'invalid_grant',
    );
  });

  // @rfc 7636 4.1
  it.each(['short', 'x'.repeat(129), `${'x'.repeat(43)}!`])(
    'refuses a malformed verifier (4.1): %s',
    async (code_verifier) => {
      const code = await app.ourCode({ challenge });
      expect((await post({ ...app.redemption(code), code_verifier })).body.error).toBe('invalid_request');
    },
  );

  it('issues tokens to a public client without a secret, and refuses a public client with a secret', async () => {
    const open = await app.publicClient('com.example.pocket:/callback');
    const redirect_uri = 'com.example.pocket:/callback';
    const code = await app.code(open.client_id, app.userId, { challenge, redirectUri: redirect_uri });
    const body = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier, ...open };
    expect((await post({ ...body, client_secret: 'any' })).body.error).toBe('invalid_client');
    expect((await post(body)).status).toBe(200);
  });
});
