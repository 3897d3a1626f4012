import request from 'supertest';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp();

describe('the address of error_uri (RFC 6749 5.2)', () => {
  it('redirects to the error guide without a fragment, so that the browser keeps its own', async () => {
    const { headers } = await request(app.server).get('/api/auth/oauth/errors').expect(302);
    expect(headers['location']).toBe('https://auth.example.com/auth/errors');
  });

  it('rejects other methods', async () => {
    const answer = await request(app.server).post('/api/auth/oauth/errors').send({}).expect(405);
    expect(answer.body).toMatchObject({
      error: 'method_not_allowed',
      error_uri: expect.stringMatching(/\/errors#method_not_allowed$/),
    });
  });
});

describe('error_uri', () => {
  // @rfc 6749 5.2
  it.each([
    ['an invalid code', { code: 'x', redirect_uri: 'https://app.example.com/callback' }, 'unrecognized'],
    ['a missing parameter', {}, 'parameter_invalid'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('points to the failed check: %s', async (_name, parameters, anchor) => {
    const { body } = await app.post('token', {
      grant_type: 'authorization_code',
      ...app.ours,
      ...parameters,
    });
    expect(body.error_uri).toBe(`https://base.example.com/api/auth/oauth/errors#${anchor}`);
  });

  it('is the same for an unknown client and for a wrong secret', async () => {
    const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://app.example.com/' };
    const [unknown, wrong] = [
      await app.post('token', { ...code, client_id: 'sc_nobody', client_secret: 'x' }),
      await app.post('token', { ...code, ...app.ours, client_secret: 'x' }),
    ];
    expect(unknown?.body.error_uri).toMatch(/#client_credentials_mismatch$/);
    expect(wrong?.body.error_uri).toBe(unknown?.body.error_uri);
  });
});
