import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type AuthorizationRequest, checkAuthorizationRequest } from '#oauth/authorization-request.js';
import type { OAuthClient } from '#oauth/oauth-client.js';
import { LIMITS, type Parameters, parseQuery } from '#oauth/parameters.js';
import { DpopKey } from '#test/support/keys.js';
import { SCOPES } from '#test/support/app-settings.js';
import { PROMPTS, RESPONSE_MODES } from '#oauth/authorization-parameters.js';
import {
  generateRequestUri,
  pushedRequestId,
  readPushedParameters,
  writePushedParameters,
} from '#oauth/pushed-request.js';
import { DEFAULT_SCOPES_FILE, parseScopes } from '#scopes/scope-file.js';
import { displayedUserCode, generateUserCode, normalizeUserCode } from '#oauth/device-authorization.js';

describe('authorization request', () => {
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
});

describe('pushed request', () => {
  const SCOPES = parseScopes(readFileSync(DEFAULT_SCOPES_FILE), { apiUrl: '', apis: null, openid: true });
  const scopes = SCOPES.names;
  const redirectUri = 'https://app.example.com/callback?tenant=7';
  const client: OAuthClient = {
    clientId: 'sc_a',
    name: 'Calendar Connect',
    type: 'public',
    redirectUris: [redirectUri],
    scopes,
    requireState: false,
  };

  const text = (maxLength: number) =>
    fc.string({ unit: 'binary', minLength: 1, maxLength }).filter((value) => !/\p{Cc}|\p{Cs}/u.test(value));
  const hash = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => Buffer.from(bytes).toString('base64url'));
  const some = (names: readonly string[]) =>
    fc.array(fc.constantFrom(...names)).map((chosen) => chosen.join(' '));

  const body = fc.record(
    {
      client_id: text(20),
      redirect_uri: fc.constant(redirectUri),
      response_type: fc.constant('code'),
      response_mode: fc.constantFrom(...RESPONSE_MODES),
      state: text(100),
      code_challenge: hash,
      code_challenge_method: fc.constant('S256'),
      scope: some(scopes),
      dpop_jkt: hash,
      prompt: some(PROMPTS.filter((prompt) => prompt !== 'none')),
      login_hint: text(50),
      ui_locales: text(50),
      nonce: text(50),
      claims: fc.constantFrom('{}', '{"id_token":{"email":null}}', '{"userinfo":{"name":null}}'),
      id_token_hint: text(50),
      other: text(50),
      client_secret: text(50),
    },
    { requiredKeys: ['redirect_uri', 'code_challenge', 'code_challenge_method'] },
  );

  /** Client whose requests without `scope` get the scope openid. */
  const openIdClient: OAuthClient = { ...client, scopes: ['openid', 'email'] };

  const checked = (parameters: Parameters, by = client): AuthorizationRequest =>
    checkAuthorizationRequest(parameters, by, { scopes: SCOPES });

  describe('pushed parameters', () => {
    it('keep their meaning, and are stored without credentials or unknown parameters', () => {
      fc.assert(
        fc.property(
          body.filter(
            ({ prompt = '', scope = '', response_type: responseType }) =>
              prompt.length <= LIMITS.prompt &&
              scope.length <= LIMITS.scope &&
              // OpenID Connect Core 3.1.2.1
              (responseType !== undefined || !scope.split(' ').includes('openid')),
          ),
          fc.boolean(),
          (sent, openIdByDefault) => {
            const { scope: _scope, ...withoutScope } = sent;
            const by = openIdByDefault ? openIdClient : client;
            const request = checked(openIdByDefault ? withoutScope : sent, by);
            if (openIdByDefault) expect(request.nonce).toBe(sent.nonce ?? null);
            const stored = writePushedParameters(request);
            expect(checked(readPushedParameters(stored), by)).toEqual(request);
            expect(Object.keys(JSON.parse(stored) as object)).not.toEqual(
              expect.arrayContaining([expect.stringMatching(/^(?:client_id|client_secret|other)$/)]),
            );
          },
        ),
      );
    });
  });

  const PREFIX = 'urn:ietf:params:oauth:request_uri:';

  describe('a request URI (RFC 9126 2.2)', () => {
    it('contains 256 random bits', () => {
      const sizes: number[] = [];
      const uri = generateRequestUri((size) => {
        sizes.push(size);
        return Buffer.alloc(size, 0xff);
      });
      expect(sizes).toEqual([32]);
      expect(uri).toBe(PREFIX + Buffer.alloc(32, 0xff).toString('base64url'));
    });

    it('has the SHA-256 of its reference as id', () => {
      const uri = generateRequestUri();
      const reference = uri.slice(PREFIX.length);
      expect(pushedRequestId(uri)).toBe(createHash('sha256').update(reference).digest('base64url'));
    });

    it('is invalid or has another id after any change', () => {
      const uri = generateRequestUri();
      const id = pushedRequestId(uri);
      fc.assert(
        fc.property(fc.nat(uri.length - 1), fc.string({ maxLength: 2 }), (at, text) => {
          const changed = uri.slice(0, at) + text + uri.slice(at + 1);
          fc.pre(changed !== uri);
          expect(pushedRequestId(changed)).not.toBe(id);
        }),
      );
    });

    it.each([
      '',
      'https://client.example/request.jwt',
      PREFIX,
      `${PREFIX}short`,
      PREFIX.toUpperCase() + 'x'.repeat(43),
    ])('cannot be %j', (text) => {
      expect(pushedRequestId(text)).toBeNull();
    });
  });
});

const codes = fc.infiniteStream(fc.nat({ max: 19 })).map((letters) => {
  const next = letters[Symbol.iterator]();
  return generateUserCode(() => next.next().value as number);
});

describe('a user code', () => {
  // @rfc 8628 6.1
  it('consists of 8 letters out of 20 consonants, and is shown in two halves', () => {
    let letter = 0;
    expect(displayedUserCode(generateUserCode(() => letter++))).toBe('BCDF-GHJK');
    expect(generateUserCode((max) => max - 1)).toBe('ZZZZZZZZ');
    fc.assert(fc.property(codes, (code) => expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/)));
  });

  // @rfc 8628 6.1
  it('is read in any letter case and width, with any punctuation and spaces', () => {
    const noise = fc.array(fc.constantFrom(' ', '-', '–', '\u00a0', '.', '\t'), { maxLength: 3 });
    fc.assert(
      fc.property(
        codes,
        fc.array(noise, { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        (code, gaps, lower) => {
          const spelled = code
            .split('')
            .map((letter, at) => (gaps[at] ?? []).join('') + letter)
            .join('');
          expect(normalizeUserCode(lower ? spelled.toLowerCase() : spelled)).toBe(code);
        },
      ),
    );
    expect(normalizeUserCode('ｗｄｊｂ－ｍｊｈｔ')).toBe('WDJBMJHT');
  });

  it.each([undefined, '', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJA-MJHT', 'WDJ8-MJHT', 'WDJB-MJHТ', ' '.repeat(200)])(
    'cannot be %j',
    (text) => expect(normalizeUserCode(text)).toBeNull(),
  );
});
