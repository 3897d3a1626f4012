import fc from 'fast-check';
import type { DevicePoll, Granted, Refusal } from '#grants/grant.js';
import { DEVICE_CODE_LIFETIME, POLL_INTERVAL } from '#oauth/device-authorization.js';
import { useGrantEnvironment } from './use-grant-environment.js';
import { API, BOOKINGS, KEYS, LIFETIMES } from './grant-model.js';

const environment = useGrantEnvironment({ lifetimes: LIFETIMES });

class DeviceModel {
  status: 'requested' | 'pending' | 'active' | 'revoked' = 'requested';
  generation = 0;
  private isAllowed = false;
  private redeemedAt = 0;
  private polledAt: number | null = null;
  private interval = POLL_INTERVAL;

  constructor(
    private readonly createdAt: number,
    private jkt: string | null,
    private readonly resources: string | null,
  ) {}

  poll(isOwner: boolean, jkt: string | null, resources: string | null, now: number): string {
    if (!isOwner) return 'other_client';
    if (this.status === 'revoked') return this.generation === 0 ? 'decision_denied' : 'revoked';
    const isFor =
      this.resources === null || resources === null || this.resources.split(' ').includes(resources);
    if (this.status === 'active') {
      const isRetry = this.generation === 1 && now - this.redeemedAt < LIFETIMES.retryWindow * 1000;
      if (isRetry && jkt === this.jkt && isFor) return 'granted';
      this.status = 'revoked';
      return 'code_replayed';
    }
    const expiry = Math.floor(this.createdAt / 1000) + DEVICE_CODE_LIFETIME + LIFETIMES.clockSkew;
    if (now / 1000 > expiry) return 'expired';
    if (this.jkt !== null && jkt !== this.jkt) return 'key_mismatch';
    if (this.status === 'requested') {
      this.jkt = jkt;
      const isEarly = this.polledAt !== null && now - this.polledAt < this.interval * 1000 - 500;
      this.polledAt = now;
      if (isEarly) this.interval += 5;
      return isEarly ? 'polled_too_early' : 'decision_pending';
    }
    if (!isFor) return 'resource_exceeded';
    [this.status, this.generation, this.redeemedAt, this.jkt] = ['active', 1, now, jkt];
    return 'granted';
  }

  /** @returns true if the decision takes effect, or repeats an earlier decision */
  decide(status: 'pending' | 'revoked'): boolean {
    if (this.status !== 'requested')
      return this.isAllowed
        ? status === 'pending' && this.status !== 'revoked'
        : status === 'revoked' && this.status === 'revoked';
    this.status = status;
    this.isAllowed = status === 'pending';
    return true;
  }

  refresh(): string {
    if (this.status === 'revoked') return 'revoked';
    this.generation += 1;
    return 'granted';
  }

  get boundTo(): string | null {
    return this.jkt;
  }
}

type Step =
  | {
      readonly do: 'poll';
      readonly isOwner: boolean;
      readonly jkt: string | null;
      readonly resources: string | null;
    }
  | { readonly do: 'allow' | 'deny' | 'refresh' | 'revoke' }
  | { readonly do: 'wait'; readonly ms: number };

const keys = fc.constantFrom(null, null, null, KEYS[0], KEYS[1]);
const histories = fc.record({
  jkt: keys,
  resources: fc.constantFrom(null, API),
  steps: fc.array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          do: fc.constant('poll' as const),
          isOwner: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
          jkt: keys,
          resources: fc.constantFrom(null, null, API, BOOKINGS),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constantFrom('refresh' as const, 'refresh' as const, 'revoke' as const),
        }),
      },
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('wait' as const),
          ms: fc.constantFrom(500, 4_499, 4_500, 10_000, 29_999, 30_000, 906_000),
        }),
      },
    ) as fc.Arbitrary<Step>,
    { minLength: 1, maxLength: 25, size: 'max' },
  ),
});

async function requested(jkt: string | null, resources: string | null) {
  const { issuer, store, clientId, userId } = environment;
  const { code, grantId } = issuer.deviceCode(environment.now());
  await store.request(grantId, clientId, jkt, 3600);
  const grant = { clientId, userId, externalId: null, scope: 'profile:read', resources };
  return {
    code,
    grantId,
    poll: (by: Partial<DevicePoll> = {}) =>
      environment.engine.poll(code, { clientId, jkt: null, resources: null, ...by }),
    allow: () => store.approve(grantId, grant, environment.now()),
    deny: () => store.deny(grantId, clientId),
  };
}

const refreshTokenOf = (result: Granted | Refusal) =>
  result.outcome === 'granted' ? result.pair.refreshToken : null;

describe('the grant engine with devices', () => {
  // @rfc 8628 3.5
  it('responds like the model in every history', async () => {
    const { engine, clientId, otherClientId, revocations } = environment;
    await fc.assert(
      fc.asyncProperty(histories, async ({ jkt, resources, steps }) => {
        const device = await requested(jkt, resources);
        const model = new DeviceModel(environment.now(), jkt, resources);
        const issued: string[] = [];
        for (const step of steps) {
          const latest = issued.at(-1);
          if (step.do === 'poll') {
            const by = {
              clientId: step.isOwner ? clientId : otherClientId,
              jkt: step.jkt,
              resources: step.resources,
            };
            const answer = await device.poll(by);
            expect(answer.outcome).toBe(
              model.poll(step.isOwner, step.jkt, step.resources, environment.now()),
            );
            const token = refreshTokenOf(answer);
            if (token !== null) expect(issued[0] ?? token).toBe(token);
            if (token !== null && issued.length === 0) issued.push(token);
          } else if (step.do === 'allow') {
            expect(await device.allow()).toBe(model.decide('pending'));
          } else if (step.do === 'deny') {
            expect(await device.deny()).toBe(model.decide('revoked'));
          } else if (step.do === 'revoke') {
            await revocations.revoke(device.grantId);
            model.status = 'revoked';
          } else if (step.do === 'refresh' && latest !== undefined) {
            const request = { clientId, scope: null, resources: null, jkt: model.boundTo };
            const answer = await engine.refresh(latest, request);
            expect(answer.outcome).toBe(model.refresh());
            const token = refreshTokenOf(answer);
            if (token !== null) issued.push(token);
          } else if (step.do === 'wait') {
            environment.advance(step.ms / 1000);
          }
        }
      }),
      { numRuns: 120 },
    );
  });

  it('issues one pair to concurrent polls if the first decision is to allow, and otherwise no pair', async () => {
    const races = fc.array(
      fc.constantFrom('poll' as const, 'poll' as const, 'allow' as const, 'deny' as const),
      {
        minLength: 4,
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(races, async (race) => {
        const device = await requested(null, null);
        const decisions: string[] = [];
        const decide = async (decision: 'allow' | 'deny') => {
          if (await device[decision]()) decisions.push(decision);
        };
        const answers = await Promise.all(
          race.map((step) => (step === 'poll' ? device.poll() : decide(step))),
        );
        const polls = [...answers, await device.poll(), await device.poll()].filter(
          (answer) => typeof answer === 'object',
        );
        const tokens = new Set(polls.map(refreshTokenOf).filter((token) => token !== null));
        // Only the first decision takes effect, and can be repeated.
        expect(new Set(decisions).size).toBe(race.some((step) => step !== 'poll') ? 1 : 0);
        expect(tokens.size).toBe(decisions[0] === 'allow' ? 1 : 0);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a device code', () => {
  it('is not accepted at other endpoints, and other credentials are not accepted as a device code', async () => {
    const { engine, clientId } = environment;
    const { code } = await requested(null, null);
    const access = { clientId, scope: null, resources: null, jkt: null };
    const redeemed = await engine.redeem(code, {
      ...access,
      redirectUri: 'https://a.example',
      challenge: null,
    });
    expect([redeemed.outcome, (await engine.refresh(code, access)).outcome]).toEqual([
      'wrong_kind',
      'wrong_kind',
    ]);
    expect((await engine.introspect(code, null)).outcome).toBe('wrong_kind');
    expect((await engine.revokeByToken(code, clientId)).outcome).toBe('unrecognized');
    const { pair, code: redeemedCode } = await environment.active();
    for (const other of [pair.accessToken, pair.refreshToken, redeemedCode, code.replace('sdc_', 'sac_')])
      expect(['wrong_kind', 'unrecognized']).toContain((await engine.poll(other, access)).outcome);
  });

  it('is refused if it was approved before a failover', async () => {
    const { redis } = environment.fixture;
    const device = await requested(null, null);
    await device.allow();
    await redis.hset(`grant:${device.grantId}`, 'replication_id', 'another');
    expect((await device.poll()).outcome).toBe('issued_before_failover');
  });

  it('does not prevent the restore of a grant if Redis has lost the approval and the redemption', async () => {
    const { engine, fixture, clientId, userId } = environment;
    const device = await requested(null, null);
    const grant = { id: device.grantId, clientId, userId, scope: 'profile:read', resources: null };
    await fixture.records.create({
      ...grant,
      requestedScope: grant.scope,
      expiresAt: new Date(Date.now() + 1e9),
    });
    const lost = await fixture.redis.dumpBuffer(`grant:${device.grantId}`);
    await device.allow();
    const result = await device.poll();
    if (result.outcome !== 'granted') throw new Error(result.outcome);
    await fixture.redis.restore(`grant:${device.grantId}`, 60_000, lost, 'REPLACE');
    expect((await engine.introspect(result.pair.accessToken, null)).outcome).toBe('active');
    await fixture.redis.restore(`grant:${device.grantId}`, 60_000, lost, 'REPLACE');
    const refreshed = await engine.refresh(result.pair.refreshToken, {
      clientId,
      scope: null,
      resources: null,
      jkt: null,
    });
    expect(refreshed.outcome).toBe('granted');
  });
});
