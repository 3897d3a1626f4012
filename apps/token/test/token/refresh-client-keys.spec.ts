import type { Response } from 'supertest';
import type { TokenRules } from '#clients/client.js';
import { type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { ASSERTION_TYPE, ClientKey, DpopKey, keysOf } from '#test/support/keys.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { storedGrant } from '#test/support/stored.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const ISSUER = 'https://base.example.com';
const TOKEN = `${ISSUER}/api/auth/oauth/token`;

const app = useTokenApp();
let clientKey: ClientKey;
let api: { client_id: string; client_secret: string };
let first: DpopKey;
let second: DpopKey;

beforeAll(async () => {
  [clientKey, first, second] = [
    await ClientKey.generate(),
    await DpopKey.generate(),
    await DpopKey.generate(),
  ];
  const { secret, hash } = generateClientSecret();
  api = { client_id: (await app.resourceServers.create('Bookings API', hash)).id, client_secret: secret };
});

const RULES: Record<'plain' | 'bound' | 'kept' | 'fapi', Omit<TokenRules, 'grantType' | 'deviceGrant'>> = {
  plain: { dpopBound: false, keepsRefreshToken: false, profile: null },
  bound: { dpopBound: true, keepsRefreshToken: false, profile: null },
  kept: { dpopBound: true, keepsRefreshToken: true, profile: null },
  fapi: { dpopBound: true, keepsRefreshToken: true, profile: 'fapi2' },
};

async function register(rules: Omit<TokenRules, 'grantType' | 'deviceGrant'>): Promise<string> {
  const registration = {
    name: 'Bank',
    type: 'confidential',
    scopes: ['profile:read'],
    redirectUris: [REDIRECT_URI],
    ...keysOf(clientKey),
    requirePar: rules.profile !== null,
    ...rules,
  } as const;
  return (await app.clients.create(registration)).clientId;
}

async function send(body: object, prover?: DpopKey): Promise<Response> {
  const sending = app.post('token', body);
  return prover ? sending.set('DPoP', await prover.proof('POST', TOKEN)) : sending;
}

const assertion = async (clientId: string) => ({
  client_assertion_type: ASSERTION_TYPE,
  client_assertion: await clientKey.assertion(clientId, ISSUER),
});

async function grant(clientId: string, prover?: DpopKey): Promise<Pair> {
  const code = await app.code(clientId, app.userId);
  const body = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  const answer = await send({ ...body, ...(await assertion(clientId)) }, prover);
  expect(answer.status).toBe(200);
  return answer.body as Pair;
}

const refresh = async (clientId: string, refresh_token: string, prover?: DpopKey) =>
  send({ grant_type: 'refresh_token', refresh_token, ...(await assertion(clientId)) }, prover);

const over = {
  http: async (token: string) => (await app.post('introspect', { token, ...api })).body as object,
  nats: (token: string, prover?: DpopKey) =>
    app.ask<IntrospectionReply>(SUBJECTS.introspect, { token, ...(prover && { jkt: prover.jkt }) }),
};

/** Expects both kinds of introspection to report the token as active only with this key. */
async function expectBoundTo(token: string, prover: DpopKey): Promise<void> {
  const cnf = { jkt: prover.jkt };
  expect(await over.http(token)).toMatchObject({ active: true, token_type: 'DPoP', cnf });
  expect(await over.nats(token, prover)).toMatchObject({ active: true, cnf });
  expect(await over.nats(token, prover === first ? second : first)).toEqual({ active: false });
  expect(await over.nats(token)).toEqual({ active: false });
}

const refused = ({ status, body }: Response) => expect([status, body.error]).toEqual([400, 'invalid_grant']);

// @rfc 9449 5
describe.each(['plain', 'bound', 'kept', 'fapi'] as const)(
  'the refresh token of a client that authenticates with keys (%s)',
  (rules) => {
    it('is not bound to a DPoP key, unlike the access tokens', async () => {
      const clientId = await register(RULES[rules]);
      const pair = await grant(clientId, first);
      const answer = await refresh(clientId, pair.refresh_token, second);
      expect([answer.status, answer.body.token_type]).toEqual([200, 'DPoP']);
      const next = answer.body as Pair;
      expect(next.refresh_token === pair.refresh_token).toBe(RULES[rules].keepsRefreshToken);
      await expectBoundTo(next.access_token, second);
      // The first access token was issued before the key changed.
      await expectBoundTo(pair.access_token, first);
    });

    it('never yields an unbound access token, even after Redis has lost the grant', async () => {
      const clientId = await register(RULES[rules]);
      const pair = await grant(clientId, first);
      const key = `grant:${app.grantIdOf(pair.refresh_token)}`;
      const unproved = async () => {
        const answer = await refresh(clientId, pair.refresh_token);
        const expected = RULES[rules].dpopBound ? 'invalid_dpop_proof' : 'invalid_grant';
        expect([answer.status, answer.body.error]).toEqual([400, expected]);
      };
      await unproved();
      await app.redis.del(key);
      await unproved();
      expect(await app.redis.exists(key)).toBe(0);
      await expectBoundTo(pair.access_token, first);
      await app.redis.del(key);
      const answer = await refresh(clientId, pair.refresh_token, second);
      expect(answer.body.token_type).toBe('DPoP');
      await expectBoundTo((answer.body as Pair).access_token, second);
      await unproved();
    });
  },
);

it('a retry with a new key gets the same refresh token, and an access token for the new key', async () => {
  const clientId = await register(RULES.bound);
  const { refresh_token } = await grant(clientId, first);
  const lost = (await refresh(clientId, refresh_token, first)).body as Pair;
  const same = (await refresh(clientId, refresh_token, first)).body as Pair;
  expect([same.access_token, same.refresh_token]).toEqual([lost.access_token, lost.refresh_token]);
  const other = (await refresh(clientId, refresh_token, second)).body as Pair;
  expect(other.refresh_token).toBe(lost.refresh_token);
  await expectBoundTo(other.access_token, second);
  await expectBoundTo(lost.access_token, first);
});

describe('a client that changes from keys to secrets', () => {
  async function toSecrets(clientId: string): Promise<object> {
    await app.registrations.update(clientId, (current) => ({ ...current, jwks: null, jwksUri: null }));
    const { secret, hash } = generateClientSecret();
    await app.secrets.add(clientId, hash);
    await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
    await app.settled();
    return { client_id: clientId, client_secret: secret };
  }

  it.each(['bound', 'kept'] as const)(
    'needs the key with which its refresh token was issued (%s)',
    async (rules) => {
      const clientId = await register(RULES[rules]);
      const pair = await grant(clientId, first);
      const { refresh_token } = (await refresh(clientId, pair.refresh_token, second)).body as Pair;
      const secret = await toSecrets(clientId);
      const body = { grant_type: 'refresh_token', refresh_token, ...secret };
      const [right, wrong] = RULES[rules].keepsRefreshToken ? [first, second] : [second, first];
      refused(await send(body, wrong));
      refused(await send(body, await DpopKey.generate()));
      expect((await send(body)).body.error).toBe('invalid_dpop_proof');
      expect((await send(body, right)).body.token_type).toBe('DPoP');
    },
  );

  it('can no longer bind a bearer grant', async () => {
    const clientId = await register(RULES.plain);
    const { refresh_token } = await grant(clientId);
    const body = { grant_type: 'refresh_token', refresh_token, ...(await toSecrets(clientId)) };
    const answer = await send(body, first);
    refused(answer);
    expect(answer.body.error_uri).toMatch(/#key_unexpected$/);
    expect((await send(body)).body.token_type).toBe('Bearer');
  });
});

describe('a bearer grant of a client that authenticates with keys', () => {
  it('is bound by its first refresh with a proof, so that a client can be registered for bound tokens later', async () => {
    const clientId = await register(RULES.plain);
    const pair = await grant(clientId);
    await app.registrations.update(clientId, (current) => ({ ...current, dpopBound: true }));
    await app.announce(SUBJECTS.clientChanged, { client_id: clientId });
    await app.settled();
    expect((await refresh(clientId, pair.refresh_token)).body.error).toBe('invalid_dpop_proof');
    const bound = (await refresh(clientId, pair.refresh_token, first)).body as Pair;
    await expectBoundTo(bound.access_token, first);
    expect(await storedGrant(app.redis, app.grantIdOf(bound.refresh_token))).toMatchObject({
      jkt: first.jkt,
    });
  });
});

// @deviation D13
describe('a client with a secret', () => {
  it('needs the key of the code exchange for every refresh, and cannot bind a bearer grant', async () => {
    const exchange = async (prover?: DpopKey) =>
      (await send(app.redemption(await app.ourCode()), prover)).body as Pair;
    const [bound, bearer] = [await exchange(first), await exchange()];
    const body = ({ refresh_token }: Pair) => ({ grant_type: 'refresh_token', refresh_token, ...app.ours });
    refused(await send(body(bound), second));
    refused(await send(body(bound)));
    refused(await send(body(bearer), first));
    expect((await send(body(bound), first)).body.token_type).toBe('DPoP');
    expect((await send(body(bearer))).body.token_type).toBe('Bearer');
  });
});
