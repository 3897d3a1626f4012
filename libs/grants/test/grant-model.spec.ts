import fc from 'fast-check';
import type { Granted, Refusal, TokenPair } from '#grants/grant.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { REDIRECT_URI, useWorld } from './grant-world.js';

const LIFETIMES = { ...DEFAULT_LIFETIMES, retryWindow: 30 };

const world = useWorld({ lifetimes: LIFETIMES });

/** What DESIGN 3 says a grant is, in a few lines, and what each request on it must be answered. */
class Model {
  status: 'pending' | 'active' | 'revoked' = 'pending';
  generation = 0;
  rotatedAt: number;

  constructor(readonly createdAt: number) {
    this.rotatedAt = createdAt;
  }

  redeem(clientIsOurs: boolean, redirectIsOurs: boolean, now: number): string {
    if (!clientIsOurs) return 'other_client';
    if (this.status === 'revoked') return 'revoked';
    if (this.status === 'active') return this.#revoke('code_replayed');
    if (now / 1000 > Math.floor(this.createdAt / 1000) + LIFETIMES.code + LIFETIMES.clockSkew)
      return 'expired';
    if (!redirectIsOurs) return 'redirect_uri_mismatch';
    return this.#rotate(1, now);
  }

  refresh(generation: number, clientIsOurs: boolean, now: number): string {
    if (!clientIsOurs) return 'other_client';
    if (this.status === 'revoked') return 'revoked';
    if (generation === this.generation) return this.#rotate(generation + 1, now);
    if (generation === this.generation - 1 && now - this.rotatedAt < LIFETIMES.retryWindow * 1000)
      return 'granted';
    return this.#revoke('refresh_token_reused');
  }

  revoke(): void {
    this.status = 'revoked';
  }

  #rotate(generation: number, now: number): string {
    [this.status, this.generation, this.rotatedAt] = ['active', generation, now];
    return 'granted';
  }

  #revoke(outcome: string): string {
    this.revoke();
    return outcome;
  }
}

type Step =
  | { readonly do: 'redeem'; readonly clientIsOurs: boolean; readonly redirectIsOurs: boolean }
  | { readonly do: 'refresh'; readonly back: number; readonly clientIsOurs: boolean }
  | { readonly do: 'look'; readonly back: number }
  | { readonly do: 'revoke' }
  /** The process that records a revocation dies before it tells Redis, and another one does. */
  | { readonly do: 'record revocation' }
  | { readonly do: 'wait'; readonly seconds: number };

const mostly = fc.integer({ min: 0, max: 9 }).map((n) => n > 0);
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('redeem' as const),
        clientIsOurs: mostly,
        redirectIsOurs: mostly,
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('refresh' as const),
        back: fc.constantFrom(0, 0, 0, 1, 1, 2),
        clientIsOurs: mostly,
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const), back: fc.nat({ max: 2 }) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'revoke' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'record revocation' as const }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 29, 30, 31, 66) }),
    },
  ) as fc.Arbitrary<Step>,
  { minLength: 1, maxLength: 25 },
);

const client = (ours: boolean) => (ours ? world.clientId : world.otherClientId);
const renewal = (clientIsOurs = true) => ({ clientId: client(clientIsOurs), jkt: null, scope: null });
const redemption = (clientIsOurs = true, redirectIsOurs = true) => ({
  clientId: client(clientIsOurs),
  redirectUri: redirectIsOurs ? REDIRECT_URI : `${REDIRECT_URI}/`,
  challenge: null,
  jkt: null,
});

describe('the grant engine against its model', () => {
  it('answers every history as the state machine says', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const { code, grantId } = await world.pending();
        const model = new Model(world.now());
        const pairs: TokenPair[] = [];
        const keep = (result: Granted | Refusal): string => {
          if (result.outcome === 'granted') {
            const known = pairs[result.grant.generation - 1];
            // A retry is answered the same way, to the byte.
            if (known) expect({ ...result.pair, expiresIn: 0 }).toEqual({ ...known, expiresIn: 0 });
            pairs[result.grant.generation - 1] = result.pair;
          }
          return result.outcome;
        };
        for (const step of history) {
          const pair = pairs[pairs.length - 1 - ('back' in step ? step.back : 0)];
          const generation = pairs.length - ('back' in step ? step.back : 0);
          if (step.do === 'redeem') {
            const result = keep(
              await world.engine.redeem(code, redemption(step.clientIsOurs, step.redirectIsOurs)),
            );
            expect(result).toBe(model.redeem(step.clientIsOurs, step.redirectIsOurs, world.now()));
          } else if (step.do === 'refresh' && pair) {
            const result = keep(await world.engine.refresh(pair.refreshToken, renewal(step.clientIsOurs)));
            expect(result).toBe(model.refresh(generation, step.clientIsOurs, world.now()));
          } else if (step.do === 'look' && pair) {
            expect((await world.engine.look(pair.refreshToken, null)).outcome).toBe(
              model.status === 'revoked' ? 'revoked' : 'live',
            );
          } else if (step.do === 'revoke') {
            await world.engine.revoke(grantId);
            model.revoke();
          } else if (step.do === 'record revocation') {
            await world.fixture.records.revoke(grantId);
            const changed = await world.engine.repeatRevocation(grantId, 'when_applied');
            expect(changed).toBe(model.status !== 'revoked');
            model.revoke();
          } else if (step.do === 'wait') {
            world.advance(step.seconds);
          }
        }
        const record = await world.fixture.records.find(grantId);
        expect(record?.revokedAt !== null).toBe(model.status === 'revoked');
      }),
      { numRuns: 150 },
    );
  });

  it('gives one successor whatever happens at once, and none after a revocation', async () => {
    const bursts = fc.array(
      fc.record({
        redeems: fc.nat({ max: 3 }),
        refreshes: fc.nat({ max: 8 }),
        revoke: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(bursts, async (history) => {
        const { code, grantId } = await world.pending();
        const won: Granted[] = [];
        let revoked = false;
        for (const { redeems, refreshes, revoke } of history) {
          const latest = won.at(-1)?.pair.refreshToken;
          const answers = await Promise.all([
            ...Array.from({ length: redeems }, () => world.engine.redeem(code, redemption())),
            ...Array.from({ length: latest ? refreshes : 0 }, () =>
              world.engine.refresh(latest ?? '', renewal()),
            ),
            ...(revoke ? [world.engine.revoke(grantId).then(() => null)] : []),
          ]);
          const granted = answers.filter((answer): answer is Granted => answer?.outcome === 'granted');
          expect(new Set(granted.map(({ pair }) => pair.refreshToken)).size).toBeLessThanOrEqual(1);
          if (revoked) expect(granted).toEqual([]);
          if (granted[0]) won.push(granted[0]);
          revoked ||= revoke || answers.some((answer) => answer?.outcome === 'code_replayed');
        }
        expect(won.map(({ grant }) => grant.generation)).toEqual(won.map((_, index) => index + 1));
        if (revoked)
          expect(
            (await world.engine.refresh(won.at(-1)?.pair.refreshToken ?? '', renewal())).outcome,
          ).not.toBe('granted');
      }),
      { numRuns: 100 },
    );
  });
});
