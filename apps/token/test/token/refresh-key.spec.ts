import type { Response } from 'supertest';
import { DpopKey } from '#test/support/keys.js';
import { storedGrant } from '#test/support/stored.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const TOKEN = 'https://base.example.com/api/auth/oauth/token';
const REDIRECT_URI = 'com.example.pocket:/callback';

const app = useTokenApp();
/** Public client. Only its tokens and its key distinguish it from a thief. */
let client: { readonly client_id: string };
let key: DpopKey;
let thief: DpopKey;

beforeAll(async () => {
  client = await app.publicClient(REDIRECT_URI);
  [key, thief] = [await DpopKey.generate(), await DpopKey.generate()];
});

async function send(body: object, prover?: DpopKey): Promise<Response> {
  const sending = app.post('token', { ...body, ...client });
  return prover ? sending.set({ DPoP: await prover.proof('POST', TOKEN) }) : sending;
}

const refresh = (refresh_token: string, prover?: DpopKey, scope?: string) =>
  send({ grant_type: 'refresh_token', refresh_token, ...(scope && { scope }) }, prover);

async function grant(prover?: DpopKey): Promise<Pair> {
  const code = await app.code(client.client_id, app.userId, { redirectUri: REDIRECT_URI });
  const answer = await send({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }, prover);
  expect(answer.status).toBe(200);
  return answer.body as Pair;
}

/** Returns the refresh tokens of a grant after `count` refreshes, oldest first. */
async function generations(count: number, prover?: DpopKey): Promise<string[]> {
  const tokens = [(await grant(prover)).refresh_token];
  while (tokens.length <= count)
    tokens.push(((await refresh(tokens.at(-1) ?? '', prover)).body as Pair).refresh_token);
  return tokens;
}

const refused = ({ status, body }: Response) => expect([status, body.error]).toEqual([400, 'invalid_grant']);
const granted = ({ status, body }: Response, type: string) =>
  expect([status, body.token_type]).toEqual([200, type]);
const stored = (token: string) => storedGrant(app.redis, app.grantIdOf(token));
const isRevoked = async (token: string) =>
  (await app.records.find(app.grantIdOf(token)))?.revokedAt instanceof Date;

describe('a stolen bearer refresh token with a proof of the thief’s key (RFC 9449 5)', () => {
  // @deviation D13
  it('is refused without being bound, and stays valid for its client', async () => {
    const { refresh_token } = await grant();
    const before = await stored(refresh_token);
    for (let tries = 0; tries < 2; tries++) {
      const stolen = await refresh(refresh_token, thief);
      refused(stolen);
      expect(stolen.body.error_description).toMatch(/not bound to a key: send it without a DPoP proof/);
    }
    expect(await stored(refresh_token)).toEqual(before);
    const next = await refresh(refresh_token);
    granted(next, 'Bearer');
    // The thief is also refused inside the retry window.
    refused(await refresh(refresh_token, thief));
    granted(await refresh((next.body as Pair).refresh_token), 'Bearer');
    expect(await isRevoked(refresh_token)).toBe(false);
  });

  it('is not restored with the key after Redis has lost the grant', async () => {
    const { refresh_token } = await grant();
    await app.redis.del(`grant:${app.grantIdOf(refresh_token)}`);
    refused(await refresh(refresh_token, thief));
    expect(await stored(refresh_token)).toEqual({});
    granted(await refresh(refresh_token), 'Bearer');
    expect(await stored(refresh_token)).not.toHaveProperty('jkt');
  });
});

describe('reuse of an older refresh token (RFC 9700 4.14.2)', () => {
  it.each([
    ['a bearer token without a key', false, () => undefined],
    ['a bearer token with a key', false, () => thief],
    ['a bound token without its key', true, () => undefined],
    ['a bound token with another key', true, () => thief],
    ['a bound token with its key', true, () => key],
  ])('revokes the grant, regardless of the proved key: %s', async (_rule, isBound, prover) => {
    const [first = '', , last = ''] = await generations(2, isBound ? key : undefined);
    const reuse = await refresh(first, prover());
    refused(reuse);
    expect(reuse.body.error_description).toMatch(/used before/);
    expect(await isRevoked(first)).toBe(true);
    refused(await refresh(last, isBound ? key : undefined));
  });

  it('revokes the grant if the client refreshes after a thief who refreshed without a key', async () => {
    const { refresh_token: first } = await grant();
    refused(await refresh(first, thief));
    const second = ((await refresh(first)).body as Pair).refresh_token;
    granted(await refresh(second), 'Bearer');
    // The thief has refreshed; the client's late request revokes the grant.
    refused(await refresh(first));
    expect(await isRevoked(first)).toBe(true);
  });
});

describe('a bound refresh token without its key', () => {
  // @rfc 9449 5
  it.each([
    ['no key', () => undefined],
    ['another key', () => thief],
  ])(
    'is refused without side effects, whether it is the latest token or the previous token: %s',
    async (_, prover) => {
      const [before = '', latest = ''] = await generations(1, key);
      const state = await stored(latest);
      for (const token of [latest, before]) refused(await refresh(token, prover()));
      expect(await stored(latest)).toEqual(state);
      expect(((await refresh(before, key)).body as Pair).refresh_token).toBe(latest);
      granted(await refresh(latest, key), 'DPoP');
    },
  );

  it('is not restored after Redis has lost the grant', async () => {
    const { refresh_token } = await grant(key);
    await app.redis.del(`grant:${app.grantIdOf(refresh_token)}`);
    for (const prover of [undefined, thief]) refused(await refresh(refresh_token, prover));
    expect(await stored(refresh_token)).toEqual({});
    granted(await refresh(refresh_token, key), 'DPoP');
    expect(await stored(refresh_token)).toMatchObject({ jkt: key.jkt, generation: '2' });
  });

  it('is refused before its scope is checked', async () => {
    const { refresh_token } = await grant(key);
    refused(await refresh(refresh_token, thief, 'bookings:write'));
    const answer = await refresh(refresh_token, key, 'bookings:write');
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_scope']);
  });
});
