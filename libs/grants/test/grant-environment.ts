import { randomBytes } from 'node:crypto';
import type { Granted, Refusal } from '#grants/grant.js';
import { DEFAULT_LIFETIMES, type Lifetimes } from '#grants/lifetimes.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { grantEngine } from '#test/support/grant-engine.js';
import { isolate } from '#test/support/isolate.js';

export const REDIRECT_URI = 'https://app.example.com/callback';

interface Settings {
  readonly lifetimes?: Lifetimes;
  readonly scope?: string;
  readonly externalId?: string | null;
}

type GrantEnvironment = Awaited<ReturnType<typeof openGrantEnvironment>>;

export function useGrantEnvironment(settings: Settings = {}): GrantEnvironment {
  const environment = {} as GrantEnvironment;
  beforeAll(async () => {
    Object.assign(environment, await openGrantEnvironment(settings));
  });
  afterAll(() => environment.close());
  return environment;
}

export function granted(result: Granted | Refusal): Granted {
  if (result.outcome !== 'granted') throw new Error(result.outcome);
  return result;
}

/** Opens a grant engine over real stores, with a clock that only `advance` moves. */
async function openGrantEnvironment({
  lifetimes = DEFAULT_LIFETIMES,
  scope = 'profile:read',
  externalId = null,
}: Settings) {
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
  const [client, other] = [await fixture.client(), await fixture.client()];
  const userId = await fixture.user(externalId);

  async function pending(
    challenge: string | null = null,
    jkt: string | null = null,
    /** Called after PostgreSQL has the grant and before Redis has it. */
    between: (grantId: string) => Promise<unknown> = async () => undefined,
    resources: string | null = null,
  ): Promise<{ code: string; grantId: string }> {
    const issued = issuer.code(now);
    const grant = { clientId: client.client_id, userId, scope, resources };
    const expiresAt = new Date(Date.now() + 1e9);
    await fixture.records.create({ id: issued.grantId, ...grant, requestedScope: scope, expiresAt });
    await between(issued.grantId);
    const pendingGrant = { ...grant, externalId, redirectUri: REDIRECT_URI, challenge, jkt };
    await store.create(issued.grantId, pendingGrant, now, 3600);
    return issued;
  }

  const redeem = (code: string, jkt: string | null = null, resources: string | null = null) =>
    engine.redeem(code, {
      clientId: client.client_id,
      redirectUri: REDIRECT_URI,
      challenge: null,
      jkt,
      resources,
    });

  return {
    engine,
    revocations,
    store,
    issuer,
    fixture,
    userId,
    announced,
    clientId: client.client_id,
    otherClientId: other.client_id,
    now: () => now,
    advance: (seconds: number) => (now += seconds * 1000),
    pending,
    redeem,

    async active(
      jkt: string | null = null,
      resources: string | null = null,
    ): Promise<Granted & { code: string }> {
      const { code } = await pending(null, null, undefined, resources);
      return { ...granted(await redeem(code, jkt)), code };
    },

    async close(): Promise<void> {
      await fixture.close();
      await services.close();
    },
  };
}
