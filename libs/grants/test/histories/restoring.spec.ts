import { GrantEngine } from '#grants/grant-engine.js';
import { GrantStoreUnavailableError } from '#grants/grant-store-unavailable.error.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#grants/key-ring.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { openFixture, type Fixture, type TestClient } from '#testing/fixture.js';
import { type Isolated, isolate } from '#testing/isolate.js';

const KEYS = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const redirectUri = 'https://app.example.com/callback?tenant=7';

let services: Isolated;
let fixture: Fixture;
let client: TestClient;
let userId: number;
/** What happens when PostgreSQL has answered and its answer is still on its way. */
let afterFind: (id: string) => Promise<unknown>;
let engine: GrantEngine;

beforeAll(async () => {
  services = await isolate();
  fixture = await openFixture(services, KEYS);
  [client, userId] = [await fixture.client(), await fixture.user()];
  const codec = new TokenCodec(KeyRing.parse(KEYS));
  engine = new GrantEngine({
    store: new GrantStore(fixture.redis),
    codec,
    issuer: new TokenIssuer(codec, DEFAULT_LIFETIMES),
    lifetimes: DEFAULT_LIFETIMES,
    durable: {
      revoke: (id) => fixture.records.revoke(id),
      async find(id) {
        const found = await fixture.records.find(id);
        await afterFind(id);
        return found;
      },
    },
    announce: () => undefined,
    clock: Date.now,
  });
});

afterAll(async () => {
  await fixture.close();
  await services.close();
});

const refresh = (token: string) =>
  engine.refresh(token, { clientId: client.client_id, jkt: null, scope: null });

async function pair() {
  const code = await fixture.code(client.client_id, userId);
  const redemption = { clientId: client.client_id, redirectUri, challenge: null, jkt: null };
  const granted = await engine.redeem(code, redemption);
  if (granted.outcome !== 'granted') throw new Error(granted.outcome);
  await fixture.redis.flushdb();
  return granted.pair;
}

describe('putting back a grant that Redis has lost', () => {
  it('brings back no grant that was revoked meanwhile', async () => {
    const { refreshToken } = await pair();
    afterFind = (id) => engine.revoke(id);
    expect((await refresh(refreshToken)).outcome).toBe('revoked');
  });

  it('brings back no grant that was revoked meanwhile, when Redis has lost the revocation as well', async () => {
    const { refreshToken, accessToken } = await pair();
    afterFind = async (id) => {
      afterFind = () => Promise.resolve();
      await engine.revoke(id);
      await fixture.redis.flushdb();
    };
    expect((await refresh(refreshToken)).outcome).toBe('revoked');
    expect((await engine.look(accessToken, null)).outcome).toBe('revoked');
  });

  it('restores again what Redis loses while it is put back', async () => {
    const { refreshToken } = await pair();
    afterFind = async () => {
      afterFind = () => Promise.resolve();
      await fixture.redis.flushdb();
    };
    expect((await refresh(refreshToken)).outcome).toBe('granted');
  });

  it('refuses nobody when Redis loses faster than can be put back: the request fails and can be repeated', async () => {
    const { refreshToken } = await pair();
    afterFind = () => fixture.redis.flushdb();
    await expect(refresh(refreshToken)).rejects.toBeInstanceOf(GrantStoreUnavailableError);
    afterFind = () => Promise.resolve();
    expect((await refresh(refreshToken)).outcome).toBe('granted');
  });

  it('restores for many requests at once as for one', async () => {
    const { refreshToken } = await pair();
    afterFind = () => Promise.resolve();
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(refreshToken)));
    const successors = answers.map((answer) =>
      answer.outcome === 'granted' ? answer.pair.refreshToken : answer.outcome,
    );
    expect(new Set(successors).size).toBe(1);
    expect(successors[0]).toMatch(/^srt_/);
  });
});
