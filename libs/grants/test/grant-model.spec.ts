import fc from 'fast-check';
import type { Granted, RequestedAccess, Refusal } from '#grants/grant.js';
import {
  API,
  BOOKINGS,
  common,
  KEYS,
  LIFETIMES,
  Model,
  type Presented,
  SCOPE,
  words,
} from './grant-model.js';
import { REDIRECT_URI, useGrantEnvironment } from './use-grant-environment.js';

const environment = useGrantEnvironment({ lifetimes: LIFETIMES, scope: SCOPE });
const strict = useGrantEnvironment({ lifetimes: { ...LIFETIMES, retryWindow: 0 }, scope: SCOPE });

interface IssuedAccess {
  readonly text: string;
  readonly jkt: string | null;
  /** Generation, scope and APIs of the token. */
  readonly access: string;
}

class IssuedTokens {
  readonly refreshTokens: string[] = [];
  private readonly accessTokens = new Map<string, string>();
  private readonly issued: IssuedAccess[] = [];

  constructor(private readonly environment: Environment) {}

  /** @param isKept true if the response must contain the presented refresh token */
  keep(result: Granted | Refusal, requested: RequestedAccess, model: Model, isKept = false): string {
    if (result.outcome !== 'granted') return result.outcome;
    const { pair, grant } = result;
    const { jkt } = requested;
    expect(words(pair.scope)).toBe(common(SCOPE, requested.scope ?? SCOPE));
    expect(pair.type).toBe(jkt === null ? 'Bearer' : 'DPoP');
    expect(this.environment.fixture.codec.decode(pair.refreshToken)?.jkt).toBe(model.keyOf(grant.generation));
    // A retry returns the same refresh token. Only another scope, audience or key changes the access token.
    expect(this.refreshTokens[grant.generation - 1] ?? pair.refreshToken).toBe(pair.refreshToken);
    this.refreshTokens[grant.generation - 1] = pair.refreshToken;
    const access = `${grant.generation} ${words(pair.scope)} ${requested.resources ?? model.resources}`;
    this.issued.push({ text: pair.accessToken, jkt, access });
    if (isKept) return result.outcome;
    const twin = `${access} ${jkt}`;
    expect(this.accessTokens.get(twin) ?? pair.accessToken).toBe(pair.accessToken);
    this.accessTokens.set(twin, pair.accessToken);
    return result.outcome;
  }

  async check(model: Model): Promise<void> {
    for (const { text, jkt: bound, access } of this.issued) {
      for (const jkt of [null, ...KEYS]) {
        const result = await this.environment.engine.introspect(text, jkt);
        expect(result.outcome).toBe(model.introspect(bound, jkt));
      }
      const result = await this.environment.engine.introspectWithoutProof(text);
      expect(result.outcome).toBe(model.introspect(bound, bound));
      if (result.outcome !== 'active') continue;
      const { token, scope, audience } = result;
      expect(`${token.generation} ${words(scope)} ${audience}`).toBe(access);
      expect(token.jkt).toBe(bound);
    }
  }
}

type Step =
  | {
      readonly do: 'redeem';
      readonly by: Presented;
      readonly redirectMatches: boolean;
      readonly resources: string | null;
      readonly isLost: boolean;
    }
  | ({
      readonly do: 'refresh';
      readonly back: number;
      readonly by: Presented;
      readonly keepsRefreshToken: boolean;
      readonly isLost: boolean;
    } & Omit<RequestedAccess, 'jkt'>)
  | { readonly do: 'introspect'; readonly back: number; readonly jkt: string | null }
  | { readonly do: 'revoke' }
  /** A process records a revocation, and dies before writing to Redis. Another process applies the revocation. */
  | { readonly do: 'record revocation' }
  | { readonly do: 'wait'; readonly seconds: number };

const mostly = fc.integer({ min: 0, max: 9 }).map((n) => n > 0);
/** The response is lost after Redis has executed the request. */
const rarely = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);
const scopes = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'bookings:read',
      'profile:read bookings:read',
      'bookings:read profile:read',
      'bookings:write bookings:read profile:read',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('admin', 'bookings:read admin', 'bookings') },
);

const audiences = fc.constantFrom(null, null, null, API, BOOKINGS, `${API} ${BOOKINGS}`);

/** Usual values in a history: the key that most requests prove, and whether the client authenticates with keys. */
const habits = fc.record({ usual: fc.constantFrom(null, KEYS[0]), usuallyHasKeys: fc.boolean() });
const histories = habits.chain(({ usual, usuallyHasKeys }) => {
  const jkt = fc.oneof(
    { weight: 8, arbitrary: fc.constant(usual) },
    { weight: usuallyHasKeys ? 6 : 2, arbitrary: fc.constantFrom(null, ...KEYS) },
  );
  const hasKeys = mostly.map((usually) => usually === usuallyHasKeys);
  const by = fc.record({ isOwner: mostly, hasKeys, jkt });
  const steps = fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant('redeem' as const),
          by,
          redirectMatches: mostly,
          resources: audiences,
          isLost: rarely,
        }),
      },
      {
        weight: 14,
        arbitrary: fc.record({
          do: fc.constant('refresh' as const),
          back: fc.constantFrom(0, 0, 0, 1, 1, 1, 2),
          by,
          keepsRefreshToken: fc.boolean(),
          scope: scopes,
          resources: audiences,
          isLost: rarely,
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('introspect' as const), back: fc.nat({ max: 2 }), jkt }),
      },
      { weight: 1, arbitrary: fc.constant({ do: 'revoke' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'record revocation' as const }) },
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant('wait' as const),
          seconds: fc.constantFrom(1, 29, 30, 31, 66),
        }),
      },
    ) as fc.Arbitrary<Step>,
    { minLength: 1, maxLength: 25, size: 'max' },
  );
  const first: Step = {
    do: 'redeem',
    by: { isOwner: true, hasKeys: usuallyHasKeys, jkt: usual },
    redirectMatches: true,
    resources: null,
    isLost: false,
  };
  return fc.record({
    resources: audiences,
    namedJkt: fc.constantFrom(null, null, usual),
    steps: fc.oneof(
      steps,
      steps.map((more) => [first, ...more]),
    ),
  });
});

type Environment = typeof environment;
const client = ({ clientId, otherClientId }: Environment, isOwner: boolean) =>
  isOwner ? clientId : otherClientId;
const ALL = { scope: null, resources: null };
const refreshRequest = (
  environment: Environment,
  { isOwner, hasKeys, jkt }: Presented,
  { scope, resources }: Omit<RequestedAccess, 'jkt'>,
) => ({ clientId: client(environment, isOwner), clientHasKeys: hasKeys, jkt, scope, resources });
const codeExchange = (
  environment: Environment,
  { isOwner, jkt }: Presented,
  redirectMatches = true,
  resources: string | null = null,
) => ({
  clientId: client(environment, isOwner),
  redirectUri: redirectMatches ? REDIRECT_URI : `${REDIRECT_URI}/`,
  challenge: null,
  jkt,
  resources,
});

describe('the grant engine', () => {
  it.each([
    ['in every history, including lost responses', () => environment, LIFETIMES.retryWindow, 200],
    ['in every history of single-use refresh tokens', () => strict, 0, 100],
  ])(
    'responds like the model %s',
    async (_name, where, retryWindow, numRuns) => {
      const environment = where();
      await fc.assert(
        fc.asyncProperty(histories, async ({ namedJkt, resources, steps }) => {
          const { code, grantId } = await environment.pending({ jkt: namedJkt, resources });
          const model = new Model(environment.now(), namedJkt, resources, retryWindow);
          const issued = new IssuedTokens(environment);
          for (const step of steps) {
            const generation = issued.refreshTokens.length - ('back' in step ? step.back : 0);
            const refreshToken = issued.refreshTokens[generation - 1];
            if (step.do === 'redeem') {
              const presented = codeExchange(environment, step.by, step.redirectMatches, step.resources);
              const redeem = () =>
                model.redeem(step.by, step.redirectMatches, step.resources, environment.now());
              if (step.isLost) {
                await expect(environment.losing.redeem(code, presented)).rejects.toThrow(/lost/);
                model.lose(redeem);
                continue;
              }
              const answer = await environment.engine.redeem(code, presented);
              const expected = redeem();
              const requested = { scope: null, resources: step.resources, jkt: step.by.jkt };
              expect(issued.keep(answer, requested, model)).toBe(expected);
            } else if (step.do === 'refresh' && refreshToken) {
              const { keepsRefreshToken } = step;
              const requested = refreshRequest(environment, step.by, step);
              const request = { ...requested, keepsRefreshToken };
              const refresh = () =>
                model.refresh(generation, step.by, requested, environment.now(), keepsRefreshToken);
              if (step.isLost) {
                await expect(environment.losing.refresh(refreshToken, request)).rejects.toThrow(/lost/);
                model.lose(refresh);
                continue;
              }
              const answer = await environment.engine.refresh(refreshToken, request);
              const isKept = keepsRefreshToken && model.jkt !== null && generation === model.generation;
              const expected = refresh();
              expect(issued.keep(answer, requested, model, isKept)).toBe(expected);
              if (isKept && answer.outcome === 'granted') expect(answer.pair.refreshToken).toBe(refreshToken);
            } else if (step.do === 'introspect' && refreshToken) {
              expect((await environment.engine.introspect(refreshToken, step.jkt)).outcome).toBe(
                model.introspect(model.keyOf(generation), step.jkt),
              );
            } else if (step.do === 'revoke') {
              await environment.revocations.revoke(grantId);
              model.revoke();
            } else if (step.do === 'record revocation') {
              await environment.fixture.records.revoke(grantId);
              const changed = await environment.revocations.reapply(
                [{ id: grantId, isApplied: false }],
                false,
              );
              expect(changed).toBe(model.status === 'revoked' ? 0 : 1);
              model.revoke();
            } else if (step.do === 'wait') {
              environment.advance(step.seconds);
            }
          }
          await issued.check(model);
          const record = await environment.fixture.records.find(grantId);
          expect(record?.revokedAt !== null).toBe(model.status === 'revoked');
        }),
        { numRuns },
      );
    },
    120_000,
  );

  // @reliability one-successor
  it('issues one successor to concurrent requests with the right key, and none after a revocation', async () => {
    const bursts = fc.array(
      fc.record({
        redeems: fc.nat({ max: 3 }),
        refreshes: fc.array(fc.record({ isThief: mostly.map((is) => !is), scope: scopes }), { maxLength: 8 }),
        revoke: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(null, KEYS[0]), bursts, async (jkt, history) => {
        const owner = { isOwner: true, hasKeys: false, jkt };
        const { code, grantId } = await environment.pending();
        const won: Granted[] = [];
        let revoked = false;
        for (const { redeems, refreshes, revoke } of history) {
          const latest = won.at(-1)?.pair.refreshToken;
          const answers = await Promise.all([
            ...Array.from({ length: redeems }, () =>
              environment.engine.redeem(code, codeExchange(environment, owner)),
            ),
            ...(latest ? refreshes : []).map(async ({ isThief, scope }) => {
              const by = isThief ? { ...owner, jkt: KEYS[1] } : owner;
              const answer = await environment.engine.refresh(
                latest ?? '',
                refreshRequest(environment, by, { ...ALL, scope }),
              );
              if (answer.outcome === 'granted') {
                expect(isThief).toBe(false);
                expect(words(answer.pair.scope)).toBe(common(SCOPE, scope ?? SCOPE));
              }
              return answer;
            }),
            ...(revoke ? [environment.revocations.revoke(grantId).then(() => null)] : []),
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
            (
              await environment.engine.refresh(
                won.at(-1)?.pair.refreshToken ?? '',
                refreshRequest(environment, owner, ALL),
              )
            ).outcome,
          ).not.toBe('granted');
      }),
      { numRuns: 30 },
    );
  });
});
