import {
  type RequestParameters,
  authorize,
  authorizeAddress,
  redirectParameters,
  PKCE,
  REDIRECT_URI,
} from '../support/start-authorize-app.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app, user } = useAuthorizeApp();

const client = () => app.client({ requireState: false });
const WITHOUT = { state: undefined, ...PKCE };

// @rfc 6749 4.1.2 @rfc 6749 4.1.2.1 @rfc 9700 2.1
describe('an application whose state is optional', () => {
  it.each<[string, string, string, RequestParameters]>([
    ['Allow without a state', 'allow', 'code', WITHOUT],
    ['Cancel without a state', 'deny', 'error', WITHOUT],
    ['Allow with a state', 'allow', 'code', { ...PKCE, state: 's' }],
  ])('receives a state only if it sent one: %s', async (_case, decision, parameter, overrides) => {
    const { clientId } = await client();
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
    const { headers } = await authorize(app, await client(), overrides);
    const returned = redirectParameters(headers['location']);
    expect(returned).toMatchObject({ error: expect.any(String), iss: app.configuration.BASE_URL });
    expect(returned).not.toHaveProperty('state');
  });

  it('needs a code challenge even if it has a secret', async () => {
    const { headers } = await authorize(app, await client(), {});
    expect(redirectParameters(headers['location'])).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringMatching(/^code challenge required, because state is optional/),
      state: 's',
    });
  });
});
