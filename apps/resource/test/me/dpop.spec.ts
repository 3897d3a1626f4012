import { randomBytes } from 'node:crypto';
import request, { type Test } from 'supertest';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { DpopKey, type ProofSettings } from '#test/support/keys.js';
import { rearranged } from '#test/support/tokens.js';
import { INVALID_PROOFS, type InvalidProof } from '#test/support/invalid-proofs.js';
import { API_URL, type DpopApps, ME, startDpopApps } from '../support/start-resource-app.js';

const METADATA = `resource_metadata="${API_URL}/.well-known/oauth-protected-resource/v2/me"`;
const challenge = (error: string) =>
  `DPoP error="${error}", scope="profile:read", algs="${DPOP_ALGORITHMS.join(' ')}", ${METADATA}`;

let apps: DpopApps;
let token: string;

beforeAll(async () => {
  apps = await startDpopApps('optional');
  token = await apps.accessToken();
});

afterAll(() => apps.close());

const send = (
  authorization: string,
  proof?: string | string[],
  { replica = 0, on = apps }: { replica?: 0 | 1; on?: DpopApps } = {},
): Test => {
  const sending = request(on.servers[replica]).get('/v2/me').set('Authorization', authorization);
  return proof === undefined ? sending : sending.set({ DPoP: proof });
};

const proofOf = (accessToken: string, settings: ProofSettings = {}) =>
  apps.key.proof('GET', ME, { accessToken, ...settings });

async function requestsDuring(work: () => Promise<unknown>, on = apps): Promise<string[]> {
  const received: string[] = [];
  const stop = on.hear('oauth.>', (message) => {
    const { pattern } = message as { pattern?: string };
    if (pattern !== undefined && pattern !== 'oauth.user.profile') received.push(pattern);
  });
  await on.settled();
  await work();
  await on.settled();
  stop();
  return received;
}

describe('GET /v2/me with a token that is bound to a key (RFC 9449 7)', () => {
  // @rfc 9449 7
  it('accepts a proof of the key, with any letter case of the scheme', async () => {
    for (const scheme of ['DPoP', 'dpop']) {
      const answer = await send(`${scheme} ${token}`, await proofOf(token));
      expect([answer.status, answer.body.status]).toEqual([200, 'success']);
    }
  });

  // @rfc 9449 11.3
  it('returns no nonce if nonces are not required (11.3)', async () => {
    const proof = await proofOf(token, { claims: { nonce: 'x' } });
    for (const status of [200, 401]) {
      const answer = await send(`DPoP ${token}`, proof);
      expect([answer.status, answer.headers['dpop-nonce']]).toEqual([status, undefined]);
    }
  });

  it('costs one NATS request, whether or not the token is cached', async () => {
    const fresh = await apps.accessToken();
    const once = async () => {
      const proof = await proofOf(fresh);
      return requestsDuring(async () => expect((await send(`DPoP ${fresh}`, proof)).status).toBe(200));
    };
    expect(await once()).toEqual(['oauth.token.introspect']);
    expect(await once()).toEqual(['oauth.dpop.consume']);
  });

  it('accepts 20 concurrent proofs for one uncached token with one introspection', async () => {
    const fresh = await apps.accessToken();
    const proofs = await Promise.all(Array.from({ length: 20 }, () => proofOf(fresh)));
    const heard = await requestsDuring(async () => {
      const answers = await Promise.all(proofs.map((proof) => send(`DPoP ${fresh}`, proof)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    });
    expect(heard.filter((subject) => subject === 'oauth.token.introspect')).toHaveLength(1);
    expect(heard).toHaveLength(20);
  });

  it('accepts only one of many concurrent requests with the same proof', async () => {
    const fresh = await apps.accessToken();
    const proof = await proofOf(fresh);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(`DPoP ${fresh}`, proof, { replica: i % 2 === 0 ? 0 : 1 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  // @rfc 9449 7.2 @rfc 9700 2.2.1
  it('refuses the token as Bearer, so that a stolen token is useless', async () => {
    for (const proof of [undefined, await proofOf(token)]) {
      const answer = await send(`Bearer ${token}`, proof);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(
        /^Bearer error="invalid_token", .*, DPoP scope="profile:read", algs="/,
      );
    }
  });

  // @rfc 9449 7.2
  it('refuses the token with rearranged bytes, as Bearer and with another key', async () => {
    const other = await DpopKey.generate();
    for (const forged of rearranged(token)) {
      expect([forged, (await send(`Bearer ${forged}`)).status]).toEqual([forged, 401]);
      const proof = await other.proof('GET', ME, { accessToken: forged });
      expect([forged, (await send(`DPoP ${forged}`, proof)).status]).toEqual([forged, 401]);
    }
  });

  // @rfc 9449 4.3(12)
  it('refuses the token with a valid proof of another key', async () => {
    const other = await DpopKey.generate();
    for (let i = 0; i < 2; i++) {
      const answer = await send(`DPoP ${token}`, await other.proof('GET', ME, { accessToken: token }));
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, challenge('invalid_token')]);
    }
  });

  // @rfc 9728 5.1
  it('refuses a bearer token as DPoP, but still accepts it as Bearer', async () => {
    const bearer = await apps.accessToken(false);
    const answer = await send(`DPoP ${bearer}`, await proofOf(bearer));
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, challenge('invalid_token')]);
    expect((await send(`Bearer ${bearer}`)).status).toBe(200);
  });

  it('consumes no proof for an invalid token', async () => {
    const forged = `sat_${randomBytes(63).toString('base64url')}`;
    await apps.redis.flushdb();
    expect((await send(`DPoP ${forged}`, await proofOf(forged))).status).toBe(401);
    expect(await apps.redis.keys('dpop:*')).toEqual([]);
  });

  it('introspects a cached token again as soon as its revocation is broadcast', async () => {
    await apps.redis.flushdb();
    const fresh = await apps.accessToken();
    const proofs = await Promise.all([proofOf(fresh), proofOf(fresh)]);
    expect((await send(`DPoP ${fresh}`, proofs[0])).status).toBe(200);
    const [key = ''] = await apps.redis.keys('grant:*');
    await apps.announce('oauth.grant.revoked', { grant_id: key.slice('grant:'.length) });
    const heard = await requestsDuring(async () => send(`DPoP ${fresh}`, proofs[1]));
    expect(heard).toEqual(['oauth.token.introspect']);
  });

  it('has metadata that lists the DPoP algorithms (RFC 9728 2)', async () => {
    const { body } = await request(apps.servers[0]).get('/.well-known/oauth-protected-resource');
    expect(body.dpop_signing_alg_values_supported).toEqual(DPOP_ALGORITHMS);
  });
});

describe('GET /v2/me with an invalid proof (RFC 9449 4.3)', () => {
  const ofTokens: InvalidProof[] = [
    // @rfc 9449 4.3(12)
    { rule: 'no ath', says: /ath/, make: () => apps.key.proof('GET', ME) },
    // @rfc 9449 4.3(12)
    { rule: 'the ath of another token', says: /ath/, make: () => proofOf(`${token}x`) },
    // @rfc 9449 7
    { rule: 'no proof at all', says: /missing/, make: async () => [] },
  ];

  it.each([...INVALID_PROOFS, ...ofTokens].map((proof) => [proof.rule, proof] as const))(
    'refuses the request without I/O: %s',
    async (_rule, invalid) => {
      const proof = await invalid.make({ key: apps.key, method: 'GET', uri: ME, accessToken: token });
      const heard = await requestsDuring(async () => {
        const answer = await send(`DPoP ${token}`, proof.length === 0 ? undefined : proof);
        expect([answer.status, answer.headers['www-authenticate']]).toEqual([
          401,
          challenge('invalid_dpop_proof'),
        ]);
        expect(answer.body.error.message).toMatch(invalid.says);
        expect(answer.text).not.toContain(token);
      });
      expect(heard).toEqual([]);
    },
  );

  // @rfc 9449 11.1
  it('refuses a proof that was used at another replica', async () => {
    const proof = await proofOf(token);
    expect((await send(`DPoP ${token}`, proof)).status).toBe(200);
    for (const replica of [0, 1] as const) {
      const answer = await send(`DPoP ${token}`, proof, { replica });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        challenge('invalid_dpop_proof'),
      ]);
    }
  });

  // @rfc 9700 4.13
  it('refuses a proof for another host, regardless of the Host header', async () => {
    const elsewhere = await apps.key.proof('GET', 'https://evil.example.org/v2/me', { accessToken: token });
    const headers = { Host: 'evil.example.org', 'X-Forwarded-Host': 'evil.example.org' };
    expect((await send(`DPoP ${token}`, elsewhere).set(headers)).status).toBe(401);
    expect((await send(`DPoP ${token}`, await proofOf(token)).set(headers)).status).toBe(200);
  });

  // @rfc 6750 2.1
  it('accepts several spaces after the scheme', async () => {
    expect((await send(`DPoP   ${token}`, await proofOf(token))).status).toBe(200);
  });

  // @rfc 9449 7
  it.each(['DPoP', 'DPoP a b', 'DPoP '])(
    'responds with 400 to a malformed Authorization header: %s',
    async (authorization) => {
      const answer = await send(authorization, await proofOf(token));
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        400,
        challenge('invalid_request'),
      ]);
    },
  );
});

describe('GET /v2/me with required nonces (RFC 9449 9)', () => {
  let strict: DpopApps;

  beforeAll(async () => {
    strict = await startDpopApps('required');
  });

  afterAll(() => strict.close());

  // @rfc 9449 9
  it('responds to a proof without a nonce with use_dpop_nonce and a nonce that every replica accepts', async () => {
    const bound = await strict.accessToken();
    const attempt = async (replica: 0 | 1, nonce: string | null) => {
      const proof = await strict.key.proof('GET', ME, { accessToken: bound, claims: { nonce } });
      return send(`DPoP ${bound}`, proof, { replica, on: strict });
    };
    // Concurrent requests do not invalidate each other's nonce.
    const [first, same, other] = await Promise.all([attempt(0, null), attempt(0, null), attempt(1, 'x')]);
    for (const answer of [first, same, other]) {
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, challenge('use_dpop_nonce')]);
      expect(answer.headers['dpop-nonce']).toMatch(/^[\w-]{32}$/);
    }
    const nonce = first.headers['dpop-nonce'] ?? '';
    for (const replica of [0, 1] as const) {
      const answer = await attempt(replica, nonce);
      expect([answer.status, answer.headers['dpop-nonce']]).toEqual([
        200,
        expect.stringMatching(/^[\w-]{32}$/),
      ]);
    }
  });

  it('responds with 503 without Redis, even if the token is cached', async () => {
    const bound = await strict.accessToken();
    const attempt = async (nonce: string | null) => {
      const proof = await strict.key.proof('GET', ME, { accessToken: bound, claims: { nonce } });
      return send(`DPoP ${bound}`, proof, { on: strict });
    };
    const nonce = (await attempt(null)).headers['dpop-nonce'] ?? '';
    expect((await attempt(nonce)).status).toBe(200);
    strict.redisProxy.disconnect();
    const answer = await attempt(nonce);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  });
});
