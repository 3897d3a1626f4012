import { randomBytes } from 'node:crypto';
import type { Granted, Refusal } from '#grants/grant.js';
import { DEFAULT_LIFETIMES, type Lifetimes } from '#grants/lifetimes.js';
import { type Fixture, openFixture, started } from '#test/support/fixture.js';
import { GivenUpRequests } from '#grants/given-up.js';
import type { GrantStore } from '#grants/grant.store.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { grantEngine } from '#test/support/grant-engine.js';
import { isolate } from '#test/support/isolate.js';

export const REDIRECT_URI = 'https://app.example.com/callback';

interface Settings {
  readonly lifetimes?: Lifetimes;
  readonly scope?: string;
  readonly externalId?: string | null;
}

interface Pending {
  readonly jkt?: string | null;
  readonly resources?: string | null;
  /** In milliseconds. */
  readonly endsAt?: number | null;
  /** Called with the grant's id when PostgreSQL has the grant and Redis does not. */
  readonly beforeRedis?: (grantId: string) => Promise<unknown>;
}

type GrantEnvironment = Awaited<ReturnType<typeof openGrantEnvironment>>;

export function useGrantEnvironment(settings: Settings = {}): GrantEnvironment {
  const environment = started() as GrantEnvironment;
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

/** Returns a store whose token requests are executed, and then fail as if the response had not arrived. */
function losingResponses(store: GrantStore): GrantStore {
  const lose =
    <Arguments extends unknown[]>(run: (...args: Arguments) => Promise<unknown>) =>
    async (...args: Arguments): Promise<never> => {
      await run(...args);
      throw new DependencyUnavailableError('redis', 'the response was lost');
    };
  return Object.create(store, {
    redeem: { value: lose(store.redeem.bind(store)) },
    refresh: { value: lose(store.refresh.bind(store)) },
    poll: { value: lose(store.poll.bind(store)) },
  }) as GrantStore;
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
  const options = {
    redis: fixture.redis,
    records: fixture.records,
    tokenKeys: keys,
    lifetimes,
    clock: () => now,
    publisher: {
      publish(ids: readonly string[]) {
        announced.push(...ids);
        return Promise.resolve(true);
      },
    },
    givenUp: new GivenUpRequests(),
  };
  const { engine, revocations, store, issuer } = grantEngine(options);
  /** Another process, whose requests Redis executes although the responses are lost. */
  const { engine: losing } = grantEngine({ ...options, wrap: losingResponses });
  const [client, other] = [await fixture.client(), await fixture.client()];
  const userId = await fixture.user(externalId);

  async function pending({
    jkt = null,
    resources = null,
    endsAt = null,
    beforeRedis,
  }: Pending = {}): Promise<{
    code: string;
    grantId: string;
  }> {
    const issued = issuer.code(now);
    const grant = { clientId: client.client_id, userId, scope, resources, endsAt };
    const expiresAt = new Date(endsAt ?? Date.now() + 1e9);
    await fixture.records.create({ id: issued.grantId, ...grant, requestedScope: scope, expiresAt });
    await beforeRedis?.(issued.grantId);
    const pendingGrant = { ...grant, externalId, redirectUri: REDIRECT_URI, challenge: null, jkt };
    await store.create(issued.grantId, pendingGrant, now, 3600);
    return issued;
  }

  const redeem = (code: string, jkt: string | null = null) =>
    engine.redeem(code, {
      clientId: client.client_id,
      redirectUri: REDIRECT_URI,
      challenge: null,
      jkt,
      resources: null,
    });

  return {
    engine,
    losing,
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

    /** @param options.jkt key of the redemption */
    async active({ jkt = null, ...settings }: Omit<Pending, 'beforeRedis'> = {}): Promise<
      Granted & { code: string }
    > {
      const { code } = await pending(settings);
      return { ...granted(await redeem(code, jkt)), code };
    },

    async close(): Promise<void> {
      await fixture.close();
      await services.close();
    },
  };
}
