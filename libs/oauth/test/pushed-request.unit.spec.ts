import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type AuthorizationRequest, checkAuthorizationRequest } from '#oauth/authorization-request.js';
import { PROMPTS, RESPONSE_MODES } from '#oauth/authorization-parameters.js';
import type { OAuthClient } from '#oauth/oauth-client.js';
import { LIMITS, type Parameters } from '#oauth/parameters.js';
import {
  readPushedParameters,
  writePushedParameters,
  generateRequestUri,
  pushedRequestId,
} from '#oauth/pushed-request.js';
import { DEFAULT_SCOPES_FILE, parseScopes } from '#oauth/scope-file.js';
import { createHash } from 'node:crypto';

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
