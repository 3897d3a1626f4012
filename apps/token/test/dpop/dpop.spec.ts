import { createHash } from 'node:crypto';
import request, { type Response, type Test } from 'supertest';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { DpopKey } from '#test/support/keys.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { rearranged, type Pair } from '#test/support/tokens.js';
import { INVALID_PROOFS } from '#test/support/invalid-proofs.js';
import { PROOF_LIMIT } from '../../src/dpop/dpop-proof.service.js';
import { useTokenApp } from '../support/use-token-app.js';

const TOKEN = 'https://base.example.com/api/auth/oauth/token';
const REFRESH = 'https://base.example.com/api/auth/oauth/refreshToken';
const PAR = 'https://base.example.com/api/auth/oauth/par';

const app = useTokenApp();
let key: DpopKey;

beforeAll(async () => {
  key = await DpopKey.generate();
});

const post = (uri: string, body: object, proof?: string | string[]): Test => {
  const sending = request(app.server).post(new URL(uri).pathname).send(body);
  return proof === undefined ? sending : sending.set({ DPoP: proof });
};

const redemption = async (pending?: { jkt?: string }) => app.redemption(await app.ourCode(pending));

async function bound(): Promise<Pair> {
  return (await post(TOKEN, await redemption(), await key.proof('POST', TOKEN))).body as Pair;
}

const refreshBody = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token, ...app.ours });

describe('a token request (RFC 9449 5)', () => {
  // @rfc 9449 5
  it.each(DPOP_ALGORITHMS)('returns tokens bound to the key of the proof: %s', async (alg) => {
    const other = await DpopKey.generate(alg);
    const answer = await post(TOKEN, await redemption(), await other.proof('POST', TOKEN));
    expect([answer.status, answer.body.token_type]).toEqual([200, 'DPoP']);
  });

  it('returns bearer tokens and no nonce without a proof', async () => {
    const answer = await post(TOKEN, await redemption());
    expect([answer.status, answer.body.token_type]).toEqual([200, 'Bearer']);
    expect(answer.headers['dpop-nonce']).toBeUndefined();
  });

  // @rfc 9449 5
  it.each([TOKEN, REFRESH])('refreshes only with the key of the grant: %s', async (uri) => {
    const { refresh_token } = await bound();
    const other = await DpopKey.generate();
    const stolen = await post(uri, refreshBody(refresh_token), await other.proof('POST', uri));
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
    const without = await post(uri, refreshBody(refresh_token));
    expect([without.status, without.body.error]).toEqual([400, 'invalid_grant']);
    const refreshed = await post(uri, refreshBody(refresh_token), await key.proof('POST', uri));
    expect([refreshed.status, refreshed.body.token_type]).toEqual([200, 'DPoP']);
  });

  // @rfc 9449 5
  it('binds the refresh token of a public client, which has no other credential (5)', async () => {
    const redirect_uri = 'com.example.pocket:/callback';
    const pocket = await app.publicClient(redirect_uri);
    const code = await app.code(pocket.client_id, app.userId, { redirectUri: redirect_uri });
    const exchange = { grant_type: 'authorization_code', code, redirect_uri, ...pocket };
    const { refresh_token } = (await post(TOKEN, exchange, await key.proof('POST', TOKEN))).body as Pair;
    const refresh = { grant_type: 'refresh_token', refresh_token, ...pocket };
    const other = await DpopKey.generate();
    for (const proof of [undefined, await other.proof('POST', TOKEN)])
      expect((await post(TOKEN, refresh, proof)).body.error).toBe('invalid_grant');
    expect((await post(TOKEN, refresh, await key.proof('POST', TOKEN))).status).toBe(200);
  });

  it('accepts a bound refresh token as Bearer at refreshToken, with its proof (specification 4.3)', async () => {
    const { refresh_token } = await bound();
    const answer = await post(REFRESH, { grant_type: 'refresh_token', ...app.ours })
      .set('Authorization', `Bearer ${refresh_token}`)
      .set('DPoP', await key.proof('POST', REFRESH));
    expect([answer.status, answer.body.token_type]).toEqual([200, 'DPoP']);
  });

  // @rfc 9449 10
  it('redeems a code only with the key of dpop_jkt (10)', async () => {
    const body = await redemption({ jkt: key.jkt });
    const other = await DpopKey.generate();
    expect((await post(TOKEN, body)).body.error).toBe('invalid_grant');
    expect((await post(TOKEN, body, await other.proof('POST', TOKEN))).body.error).toBe('invalid_grant');
    expect((await post(TOKEN, body, await key.proof('POST', TOKEN))).status).toBe(200);
  });

  it.each([
    // @rfc 9449 4.3(9)
    ['an htu with a query and a fragment, which are ignored', `${TOKEN}?a=b#c`],
    ['a scheme and a host in upper case', TOKEN.replace('https://base', 'HTTPS://BASE')],
    ['the default port', TOKEN.replace('.com', '.com:443')],
    ['dot segments', TOKEN.replace('/oauth/', '/x/../oauth/./')],
    ['an unreserved character that is percent-encoded', TOKEN.replace('token', '%74oken')],
  ])('accepts %s', async (_rule, htu) => {
    expect((await post(TOKEN, await redemption(), await key.proof('POST', htu))).status).toBe(200);
  });
});

describe('a stolen refresh token that is bound to a key', () => {
  it('cannot be unbound by rearranging its bytes, even when Redis has lost the grant', async () => {
    const { refresh_token } = await bound();
    const other = await DpopKey.generate();
    await app.redis.flushdb();
    for (const forged of [refresh_token, ...rearranged(refresh_token)]) {
      for (const proof of [undefined, await other.proof('POST', TOKEN)]) {
        const answer = await post(TOKEN, refreshBody(forged), proof);
        expect([forged, answer.status, answer.body.error]).toEqual([forged, 400, 'invalid_grant']);
      }
    }
    expect(await app.redis.keys('grant:*')).toEqual([]);
    const refreshed = await post(TOKEN, refreshBody(refresh_token), await key.proof('POST', TOKEN));
    expect([refreshed.status, refreshed.body.token_type]).toEqual([200, 'DPoP']);
  });
});

// @rfc 9449 5
describe('a DPoP proof (RFC 9449 4.3)', () => {
  it.each(INVALID_PROOFS.map((proof) => [proof.rule, proof] as const))(
    'is refused without side effects: %s',
    async (_rule, { make, says }) => {
      const body = await redemption();
      const proof = await make({ key, method: 'POST', uri: TOKEN });
      const answer = await post(TOKEN, body, proof);
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_dpop_proof']);
      expect(answer.body.error_description).toMatch(says);
      expect((await post(TOKEN, body)).status).toBe(200);
    },
  );

  it('is refused if it was used before (11.1)', async () => {
    const proof = await key.proof('POST', TOKEN);
    expect((await post(TOKEN, await redemption(), proof)).status).toBe(200);
    const again = await post(TOKEN, await redemption(), proof);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_dpop_proof']);
    expect(again.body.error_description).toMatch(/used before/);
  });

  // @reliability race-proof
  it('is accepted for only one of many concurrent requests', async () => {
    const proof = await key.proof('POST', TOKEN);
    const bodies = await Promise.all(Array.from({ length: 20 }, () => redemption()));
    const answers = await Promise.all(bodies.map((body) => post(TOKEN, body, proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('may have the same jti as a proof of another key', async () => {
    const other = await DpopKey.generate();
    for (const signer of [key, other]) {
      const proof = await signer.proof('POST', TOKEN, { claims: { jti: 'one' } });
      expect((await post(TOKEN, await redemption(), proof)).status).toBe(200);
    }
  });

  // @rfc 9449 11.1
  it('is stored under a hash for as long as it would be accepted', async () => {
    await app.redis.flushdb();
    const proof = await key.proof('POST', TOKEN, { claims: { jti: 'remembered' } });
    await post(TOKEN, await redemption(), proof);
    const id = createHash('sha256').update(`${key.jkt}remembered`).digest('base64url');
    expect(await app.redis.keys('dpop:*')).toEqual([`dpop:${id}`]);
    const ttl = await app.redis.pttl(`dpop:${id}`);
    expect(ttl).toBeGreaterThan(300_000);
    expect(ttl).toBeLessThanOrEqual(331_000);
  });

  it('is stored for public clients up to a limit per address', async () => {
    await app.redis.flushdb();
    const client = await app.clients.create({
      name: 'Room display',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris: [REDIRECT_URI],
    });
    const send = async () =>
      post(
        TOKEN,
        { grant_type: 'refresh_token', refresh_token: 'srt_x', client_id: client.clientId },
        await key.proof('POST', TOKEN),
      );
    expect((await send()).status).toBe(400);
    const [counter = ''] = await app.redis.keys('dpop-from:*');
    expect(await app.redis.pttl(counter)).toBeGreaterThan(300_000);
    await app.redis.set(counter, PROOF_LIMIT, 'KEEPTTL');
    const refused = await send();
    expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(await app.redis.keys('dpop:*')).toHaveLength(1);
    expect((await post(TOKEN, await redemption(), await key.proof('POST', TOKEN))).status).toBe(200);
  });

  it('is not stored for a client that is not authenticated', async () => {
    await app.redis.flushdb();
    const body = { ...(await redemption()), client_secret: 'scs_wrong' };
    expect((await post(TOKEN, body, await key.proof('POST', TOKEN))).status).toBe(401);
    expect(await app.redis.keys('dpop:*')).toEqual([]);
  });
});

describe('DPoP nonces (RFC 9449 8)', () => {
  const strict = useTokenApp({ DPOP_NONCE: 'required' });

  async function redeem(on: typeof app, nonce: string | null): Promise<Response> {
    const proof = await key.proof('POST', TOKEN, { claims: { nonce } });
    return on.post('token', on.redemption(await on.ourCode())).set('DPoP', proof);
  }

  // @rfc 9449 8 @rfc 9449 8.2 @rfc 9449 11.3
  it('are requested with the error use_dpop_nonce, whose response contains a nonce', async () => {
    const first = await redeem(strict, null);
    expect([first.status, first.body.error]).toEqual([400, 'use_dpop_nonce']);
    const second = await redeem(strict, first.headers['dpop-nonce'] ?? '');
    expect(second.status).toBe(200);
    expect(second.headers['dpop-nonce']).toMatch(/^[\w-]{32}$/);
  });

  // @rfc 9449 4.3(10)
  it.each(['x', 'A'.repeat(32), 'A'.repeat(43)])(
    'are refused if this server did not issue them: %s',
    async (nonce) => {
      const answer = await redeem(strict, nonce);
      expect([answer.status, answer.body.error]).toEqual([400, 'use_dpop_nonce']);
      expect(answer.headers['dpop-nonce']).toMatch(/^[\w-]{32}$/);
    },
  );

  // @rfc 9449 11.3
  it('are not issued if they are not required, because a server that issues nonces must require them (11.3)', async () => {
    for (const nonce of [null, 'x', 'A'.repeat(32)]) {
      const answer = await redeem(app, nonce);
      expect([answer.status, answer.headers['dpop-nonce']]).toEqual([200, undefined]);
    }
    const refused = await post(TOKEN, await redemption(), 'no proof');
    expect([refused.body.error, refused.headers['dpop-nonce']]).toEqual(['invalid_dpop_proof', undefined]);
  });

  it('are not required for requests without a proof', async () => {
    const answer = await strict.post('token', strict.redemption(await strict.ourCode()));
    expect([answer.status, answer.body.token_type]).toEqual([200, 'Bearer']);
  });
});

describe('a pushed authorization request with a proof (RFC 9449 10.1)', () => {
  const pushed = () => ({ ...app.ours, response_type: 'code', redirect_uri: REDIRECT_URI, state: 's' });
  const kept = async (): Promise<unknown> => {
    const [name = ''] = await app.redis.keys('{par}:request:*');
    return JSON.parse((await app.redis.hget(name, 'parameters')) ?? '');
  };

  beforeEach(() => app.redis.flushdb());

  // @rfc 9449 10.1
  it('binds the code to the key of the proof', async () => {
    expect((await post(PAR, pushed(), await key.proof('POST', PAR))).status).toBe(201);
    expect(await kept()).toMatchObject({ dpop_jkt: key.jkt });
  });

  // @rfc 9449 10.1
  it('may name only the key of the proof in dpop_jkt', async () => {
    const other = await DpopKey.generate();
    const same = await post(PAR, { ...pushed(), dpop_jkt: key.jkt }, await key.proof('POST', PAR));
    expect(same.status).toBe(201);
    const mismatch = await post(PAR, { ...pushed(), dpop_jkt: other.jkt }, await key.proof('POST', PAR));
    expect([mismatch.status, mismatch.body.error]).toEqual([400, 'invalid_request']);
  });

  it('is refused with a malformed dpop_jkt or an invalid proof', async () => {
    expect((await post(PAR, { ...pushed(), dpop_jkt: 'x' })).body.error).toBe('invalid_request');
    const proof = await key.proof('POST', TOKEN);
    expect((await post(PAR, pushed(), proof)).body.error).toBe('invalid_dpop_proof');
  });
});
