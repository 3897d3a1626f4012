import { type AuthorizationRequest, checkAuthorizationRequest } from '#oauth/authorization-request.js';
import type { OAuthClient } from '#oauth/oauth-client.js';
import { parseQuery } from '#oauth/parameters.js';
import { DpopKey } from '#test/support/dpop-key.js';
import { SCOPES } from '#test/support/app-settings.js';

const client: OAuthClient = {
  clientId: 'sc_a',
  name: 'Calendar Connect',
  type: 'confidential',
  redirectUris: ['https://app.example.com/callback'],
  scopes: ['profile:read'],
  requireState: true,
};

function check(query: string): AuthorizationRequest {
  const redirectUri = encodeURIComponent('https://app.example.com/callback');
  const parameters = parseQuery(`redirect_uri=${redirectUri}&state=s&${query}`);
  return checkAuthorizationRequest(parameters, client, { scopes: SCOPES });
}

describe('an invalid scope (RFC 6749 3.3)', () => {
  it('is reported to the operator with the registered and the requested scopes', () => {
    expect(() => check('scope=bookings:read+nope')).toThrow(
      expect.objectContaining({
        code: 'invalid_scope',
        detail: {
          check: 'scope_unregistered',
          client_id: 'sc_a',
          registered: ['profile:read'],
          requested: ['bookings:read', 'nope'],
        },
      }),
    );
  });
});

describe('dpop_jkt (RFC 9449 10)', () => {
  it('may be the thumbprint of a key, or absent', async () => {
    const { jkt } = await DpopKey.generate();
    expect(check(`dpop_jkt=${jkt}`).jkt).toBe(jkt);
    expect(check('').jkt).toBeNull();
    expect(check('dpop_jkt=').jkt).toBeNull();
  });

  it.each([
    'x',
    'A'.repeat(42),
    'A'.repeat(44),
    `${'A'.repeat(43)}%3D`,
    `${'A'.repeat(42)}B`,
    `${'A'.repeat(42)}%2B`,
    'A'.repeat(300),
  ])('is rejected in any other form: %s', (jkt) => {
    expect(() => check(`dpop_jkt=${jkt}`)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400 }),
    );
  });
});

describe('prompt (OpenID Connect Core 3.1.2.1)', () => {
  it.each([
    ['', []],
    ['prompt=', []],
    ['prompt=none', ['none']],
    ['prompt=consent%20login', ['login', 'consent']],
    ['prompt=login+login++consent', ['login', 'consent']],
    ['prompt=select_account', ['select_account']],
  ])('is parsed from the query %j into the values %j', (query, prompts) =>
    expect([...check(query).prompt]).toEqual(prompts),
  );

  it.each(['prompt=none%20login', 'prompt=consent+none'])(
    'cannot combine none with another value: %j',
    (query) => expect(() => check(query)).toThrow('prompt_invalid.none'),
  );

  it.each(['prompt=Login', 'prompt=create', 'prompt=login,consent', 'prompt=__proto__'])(
    'cannot contain a value that the standard does not define: %j',
    (query) => expect(() => check(query)).toThrow(/: prompt_invalid$/),
  );
});

// @rfc 9700 2.1
describe('a client with optional state', () => {
  const S256 = 'code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256';

  function checked(query: string, type: OAuthClient['type'] = 'confidential'): AuthorizationRequest {
    const redirectUri = encodeURIComponent('https://app.example.com/callback');
    const parameters = parseQuery(`redirect_uri=${redirectUri}&${query}`);
    return checkAuthorizationRequest(
      parameters,
      { ...client, type, requireState: false },
      { scopes: SCOPES },
    );
  }

  it.each(['', '&state='])('may omit the state with PKCE: %j', (state) => {
    expect(checked(S256 + state)).toMatchObject({ state: null, challenge: expect.any(String) });
  });

  it('gets its state back', () => {
    expect(checked(`${S256}&state=s`).state).toBe('s');
  });

  it.each(['confidential', 'public'] as const)(
    'is rejected without PKCE, with or without a state: %s',
    (type) => {
      for (const query of ['', 'state=s'])
        expect(() => checked(query, type)).toThrow(
          expect.objectContaining({
            code: 'invalid_request',
            reason: expect.stringMatching(/^code_challenge_invalid\.required/),
            detail: { check: 'code_challenge_invalid', client_id: 'sc_a' },
          }),
        );
    },
  );
});

it('a missing state is an error if the client requires it', () => {
  const redirectUri = encodeURIComponent('https://app.example.com/callback');
  expect(() =>
    checkAuthorizationRequest(parseQuery(`redirect_uri=${redirectUri}`), client, { scopes: SCOPES }),
  ).toThrow(expect.objectContaining({ code: 'invalid_request', reason: 'state_missing' }));
});
