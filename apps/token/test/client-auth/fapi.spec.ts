import { REDIRECT_URI } from '#test/support/fixture.js';
import { ASSERTION_TYPE, type AssertionSettings, ClientKey, DpopKey, keysOf } from '#test/support/keys.js';
import { challengeOf } from '#oauth/pkce.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { useTokenApp } from '../support/use-token-app.js';

const ISSUER = 'https://base.example.com';
const TOKEN_URL = `${ISSUER}/api/auth/oauth/token`;

interface Pair {
  access_token: string;
  refresh_token: string;
  token_type: string;
}

const app = useTokenApp();
const anchorOf = ({ body }: { body: { error_uri?: string } }) => body.error_uri?.split('#')[1];

let key: ClientKey;
let rsaKey: ClientKey;
let dpop: DpopKey;
let fapi: string;

async function register(rules: { dpopBound: boolean; keepsRefreshToken: boolean; profile: 'fapi2' | null }) {
  const { clientId } = await app.clients.create({
    name: 'Bank',
    type: 'confidential',
    scopes: ['profile:read'],
    redirectUris: [REDIRECT_URI],
    ...keysOf(key, rsaKey),
    requirePar: rules.profile !== null,
    requireState: rules.profile === null,
    ...rules,
  });
  return clientId;
}

beforeAll(async () => {
  [key, rsaKey, dpop] = [
    await ClientKey.generate(),
    await ClientKey.generate('RS256'),
    await DpopKey.generate(),
  ];
  fapi = await register({ dpopBound: true, keepsRefreshToken: true, profile: 'fapi2' });
});

async function credentials(settings: AssertionSettings = {}, signer = key, clientId = fapi) {
  const client_assertion = await signer.assertion(clientId, ISSUER, settings);
  return { client_assertion_type: ASSERTION_TYPE, client_assertion };
}

async function exchange(by = credentials(), proofKey: DpopKey | null = dpop, clientId = fapi) {
  const code = await app.code(clientId, app.userId);
  const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...(await by) };
  const request = app.post('token', body);
  return proofKey ? request.set('DPoP', await proofKey.proof('POST', TOKEN_URL)) : request;
}

async function refresh(refresh_token: string, clientId = fapi) {
  const body = { grant_type: 'refresh_token', refresh_token, ...(await credentials({}, key, clientId)) };
  return app.post('token', body).set('DPoP', await dpop.proof('POST', TOKEN_URL));
}

describe('a client of the FAPI 2.0 Security Profile', () => {
  it('gets tokens that are bound to its key, and keeps its refresh token', async () => {
    const first = (await exchange()).body as Pair;
    expect(first.token_type).toBe('DPoP');
    const answers = [await refresh(first.refresh_token), await refresh(first.refresh_token)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of answers) expect((body as Pair).refresh_token).toBe(first.refresh_token);
    const revoked = await app.post('revoke', { token: first.refresh_token, ...(await credentials()) });
    expect(revoked.status).toBe(200);
    expectStandardError(await refresh(first.refresh_token), 400, 'invalid_grant');
  });

  // @rfc 9449 5.2
  it('is refused without a proof or with a proof of another algorithm', async () => {
    const without = await exchange(credentials(), null);
    expectStandardError(without, 400, 'invalid_dpop_proof');
    expect(anchorOf(without)).toBe('dpop_proof_missing');
    const es384 = await exchange(credentials(), await DpopKey.generate('ES384'));
    expectStandardError(es384, 400, 'invalid_dpop_proof');
    expect(anchorOf(es384)).toBe('dpop_alg_unsupported');
  });

  it('cannot push a request with a proof of another algorithm', async () => {
    const push = async (proofKey: DpopKey) =>
      app
        .post('par', {
          response_type: 'code',
          redirect_uri: REDIRECT_URI,
          state: 's',
          scope: 'profile:read',
          code_challenge: challengeOf('v'.repeat(43)),
          code_challenge_method: 'S256',
          ...(await credentials()),
        })
        .set('DPoP', await proofKey.proof('POST', `${ISSUER}/api/auth/oauth/par`));
    const refused = await push(await DpopKey.generate('ES384'));
    expectStandardError(refused, 400, 'invalid_dpop_proof');
    expect(anchorOf(refused)).toBe('dpop_alg_unsupported');
    expect(await app.redis.keys('{par}:*')).toEqual([]);
    expect((await push(dpop)).status).toBe(201);
  });

  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  it.each<[string, string, AssertionSettings]>([
    ['the token endpoint as audience', 'audience_mismatch', { claims: { aud: TOKEN_URL } }],
    ['a list of audiences', 'audience_mismatch', { claims: { aud: [ISSUER] } }],
    ['an issue time that is an hour ahead', 'not_yet_valid', { claims: { iat: inSeconds(3600) } }],
  ])('is refused with %s', async (_what, check, settings) => {
    const answer = await exchange(credentials(settings));
    expectStandardError(answer, 401, 'invalid_client');
    expect(anchorOf(answer)).toBe(`client_assertion_${check}`);
  });

  it('may have a clock that is nine seconds ahead', async () => {
    expect((await exchange(credentials({ claims: { iat: inSeconds(9), nbf: inSeconds(9) } }))).status).toBe(
      200,
    );
  });

  it('is refused with RS256, even if the key is registered', async () => {
    const answer = await exchange(credentials({}, rsaKey));
    expectStandardError(answer, 401, 'invalid_client');
    expect(anchorOf(answer)).toBe('client_assertion_alg_unsupported');
  });

  it('cannot be stored without keys, pushed requests, bound tokens or a kept refresh token', async () => {
    for (const change of [
      'require_par = false',
      'dpop_bound = false',
      'keeps_refresh_token = false',
      'jwks = NULL',
    ])
      await expect(app.sql(`UPDATE clients SET ${change} WHERE client_id = $1`, [fapi])).rejects.toThrow(
        /check/,
      );
  });
});

describe('a client with bound tokens', () => {
  it('rotates its refresh token and needs a DPoP proof', async () => {
    const clientId = await register({ dpopBound: true, keepsRefreshToken: false, profile: null });
    const pair = (await exchange(credentials({}, key, clientId), dpop, clientId)).body as Pair;
    const next = await refresh(pair.refresh_token, clientId);
    expect([next.status, (next.body as Pair).refresh_token === pair.refresh_token]).toEqual([200, false]);
    const without = await exchange(credentials({}, key, clientId), null, clientId);
    expect(anchorOf(without)).toBe('dpop_proof_missing');
  });
});
