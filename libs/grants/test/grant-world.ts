import { randomBytes } from 'node:crypto';
import type { Granted, Refusal } from '#grants/grant.js';
import { DEFAULT_LIFETIMES, type Lifetimes } from '#grants/lifetimes.js';
import { type Fixture, openFixture } from '#testing/fixture.js';
import { grantEngine } from '#testing/grant-engine.js';
import { isolate } from '#testing/isolate.js';

export const REDIRECT_URI = 'https://app.example.com/callback';

type World = Awaited<ReturnType<typeof openWorld>>;

/** Gives the tests of a file a world: it is empty before they run, and closed after them. */
export function useWorld(settings: { lifetimes?: Lifetimes; scope?: string } = {}): World {
  const world = {} as World;
  beforeAll(async () => {
    Object.assign(world, await openWorld(settings));
  });
  afterAll(() => world.close());
  return world;
}

/** What was granted. @throws when it was refused */
export function granted(result: Granted | Refusal): Granted {
  if (result.outcome !== 'granted') throw new Error(result.outcome);
  return result;
}

/** A grant engine over real stores, with a clock that stands still until it is moved. */
async function openWorld({ lifetimes = DEFAULT_LIFETIMES, scope = 'profile:read' }) {
  const services = await isolate();
  const keys = randomBytes(32).toString('base64url');
  const fixture: Fixture = await openFixture(services, keys, lifetimes);
  const announced: string[] = [];
  let now = Date.now();
  const { engine, revocations, store, issuer } = grantEngine({
    redis: fixture.redis,
    records: fixture.records,
    tokenKeys: keys,
    lifetimes,
    clock: () => now,
    publisher: {
      publish(ids) {
        announced.push(...ids);
        return Promise.resolve(true);
      },
    },
  });
  const [client, other, userId] = [await fixture.client(), await fixture.client(), await fixture.user()];

  async function pending(
    challenge: string | null = null,
    jkt: string | null = null,
    /** What happens after PostgreSQL has the grant and before Redis has it. */
    between: (grantId: string) => Promise<unknown> = async () => undefined,
  ): Promise<{ code: string; grantId: string }> {
    const issued = issuer.code(now);
    const grant = { clientId: client.client_id, userId, scope };
    const expiresAt = new Date(Date.now() + 1e9);
    await fixture.records.create({ id: issued.grantId, ...grant, askedScope: scope, expiresAt });
    await between(issued.grantId);
    await store.create(issued.grantId, { ...grant, redirectUri: REDIRECT_URI, challenge, jkt }, now, 3600);
    return issued;
  }

  /** Our client redeems a code that it got without a challenge. */
  const redeem = (code: string, jkt: string | null = null) =>
    engine.redeem(code, { clientId: client.client_id, redirectUri: REDIRECT_URI, challenge: null, jkt });

  return {
    engine,
    revocations,
    fixture,
    announced,
    clientId: client.client_id,
    otherClientId: other.client_id,
    now: () => now,
    advance: (seconds: number) => (now += seconds * 1000),
    pending,
    redeem,

    /** A grant whose code is redeemed. */
    async active(jkt: string | null = null): Promise<Granted & { code: string }> {
      const { code } = await pending();
      return { ...granted(await redeem(code, jkt)), code };
    },

    async close(): Promise<void> {
      await fixture.close();
      await services.close();
    },
  };
}
