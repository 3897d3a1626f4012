import { randomBytes } from 'node:crypto';
import { GrantEngine } from '#grants/grant-engine.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#grants/key-ring.js';
import type { Lifetimes } from '#grants/lifetimes.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { type Fixture, openFixture } from '#testing/fixture.js';
import { isolate } from '#testing/isolate.js';

export const REDIRECT_URI = 'https://app.example.com/callback';

/** A grant engine over real stores, with a clock that stands still until it is moved. */
export async function openWorld(lifetimes: Lifetimes, scope = 'profile:read') {
  const services = await isolate();
  const keys = randomBytes(32).toString('base64url');
  const fixture: Fixture = await openFixture(services, keys, lifetimes);
  const codec = new TokenCodec(KeyRing.parse(keys));
  const issuer = new TokenIssuer(codec, lifetimes);
  const store = new GrantStore(fixture.redis);
  const announced: string[] = [];
  let now = Date.now();
  const engine = new GrantEngine({
    store,
    codec,
    issuer,
    lifetimes,
    durable: fixture.records,
    announce: (id) => announced.push(id),
    clock: () => now,
  });
  const [client, other, userId] = [await fixture.client(), await fixture.client(), await fixture.user()];

  return {
    engine,
    fixture,
    announced,
    clientId: client.client_id,
    otherClientId: other.client_id,
    now: () => now,
    advance: (seconds: number) => (now += seconds * 1000),

    async pending(
      challenge: string | null = null,
      jkt: string | null = null,
    ): Promise<{ code: string; grantId: string }> {
      const issued = issuer.code(now);
      const grant = { clientId: client.client_id, userId, scope };
      await fixture.records.create({ id: issued.grantId, ...grant, expiresAt: new Date(Date.now() + 1e9) });
      await store.create(issued.grantId, { ...grant, redirectUri: REDIRECT_URI, challenge, jkt }, now, 3600);
      return issued;
    },

    async close(): Promise<void> {
      await fixture.close();
      await services.close();
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;
