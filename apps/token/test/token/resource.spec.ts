import { APIS, KNOWN_RESOURCES, UNKNOWN_RESOURCES } from '#test/support/resources.js';
import { expectStandardError } from '../support/expect-standard-error.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const app = useTokenApp(APIS);

const encoded = (parameters: object) => new URLSearchParams({ ...parameters }).toString();
const refresh = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token, ...app.ours });

describe('resource indicators (RFC 8707 2.2)', () => {
  // @rfc 8707 2 @rfc 8707 2.2
  it.each(KNOWN_RESOURCES)(
    'are accepted by the code exchange and by the refresh: %s',
    async (_name, resource) => {
      const code = app.redemption(await app.ourCode());
      const exchanged = await app.post('token', `${encoded(code)}&${resource}`);
      expect([exchanged.status, exchanged.body.scope]).toEqual([200, 'profile:read']);
      let pair = exchanged.body as Pair;
      for (const path of ['token', 'refreshToken']) {
        const answer = await app.post(path, `${encoded(refresh(pair.refresh_token))}&${resource}`);
        expect([path, answer.status]).toEqual([path, 200]);
        pair = answer.body as Pair;
      }
    },
  );

  // @rfc 8707 2
  it.each(UNKNOWN_RESOURCES)(
    'are refused with invalid_target, and leave the code and the refresh token valid: %s',
    async (_name, resource) => {
      const code = app.redemption(await app.ourCode());
      const refused = await app.post('token', `${encoded(code)}&${resource}`);
      expectStandardError(refused, 400, 'invalid_target');
      expect(refused.body.error_description).toContain('https://api.example.com');
      const { refresh_token } = (await app.post('token', code).expect(200)).body as Pair;
      for (const path of ['token', 'refreshToken'])
        expectStandardError(
          await app.post(path, `${encoded(refresh(refresh_token))}&${resource}`),
          400,
          'invalid_target',
        );
      await app.post('refreshToken', refresh(refresh_token)).expect(200);
    },
  );

  it('must be a string or a list of strings in JSON', async () => {
    const [known, other] = ['https://api.example.com', 'https://other.example.com'];
    const code = app.redemption(await app.ourCode());
    for (const resource of [other, [other], [known, other], [known, 7], [[known]], {}, 7, true])
      expectStandardError(await app.post('token', { ...code, resource }), 400, 'invalid_target');
    await app.post('token', { ...code, resource: [known, known] }).expect(200);
  });

  it('are checked only after the client is authenticated', async () => {
    const code = app.redemption(await app.ourCode());
    const answer = await app.post('token', {
      ...code,
      client_secret: 'wrong',
      resource: 'https://other.example.com',
    });
    expectStandardError(answer, 401, 'invalid_client');
  });
});
