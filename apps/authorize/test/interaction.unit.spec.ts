import fc from 'fast-check';
import {
  allowedByForm,
  allowedEarlier,
  allowedToFirstParty,
  checkboxOf,
  isUndecided,
  requestedScopes,
} from '../src/consent/interaction.js';

const SCOPES = ['profile:read', 'schedules:read', 'schedules:write', 'bookings:read', 'bookings:write'];

const some = fc.subarray(SCOPES);
const decisionArbitrary = some.chain((asked) =>
  fc.subarray(asked).map((allowed) => ({ asked: asked.join(' '), allowed: allowed.join(' ') })),
);
const situation = fc.record({
  scope: fc.subarray(SCOPES, { minLength: 1 }),
  optional: some,
  decisions: fc.array(decisionArbitrary, { maxLength: 6 }),
});

type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

/** Checks a rule in random situations. */
function always(rule: (given: Situation & { asked: ReturnType<typeof requestedScopes> }) => void): void {
  fc.assert(
    fc.property(situation, (given) => {
      const { scope, optional, decisions } = given;
      rule({ ...given, asked: requestedScopes(scope.join(' '), { optionalScopes: optional }, decisions) });
    }),
    { numRuns: 1_000 },
  );
}

/** The fields of a form in which the boxes of these scopes are ticked. */
const ticking = (scopes: readonly string[]) =>
  Object.fromEntries(scopes.map((scope) => [checkboxOf(scope), 'yes']));

const tokens = (list: string | null) => (list === null || list === '' ? [] : list.split(' '));

describe('the earlier decision on a scope', () => {
  it('is the newest decision about it', () => {
    always(({ scope, decisions, asked }) => {
      expect(asked.map((one) => one.scope)).toEqual(scope);
      for (const { scope: token, decision } of asked) {
        const last = decisions.find((one) => tokens(one.asked).includes(token));
        const expected = last && (tokens(last.allowed).includes(token) ? 'allowed' : 'declined');
        expect(decision).toBe(expected ?? null);
      }
    });
  });

  it('is not changed by a decision on other scopes', () => {
    always(({ scope, optional, decisions, asked }) => {
      const others = SCOPES.filter((token) => !scope.includes(token)).join(' ');
      for (const allowed of ['', others]) {
        const more = [{ asked: others, allowed }, ...decisions];
        expect(requestedScopes(scope.join(' '), { optionalScopes: optional }, more)).toEqual(asked);
      }
    });
  });

  it('is open when there is none, or when it declined a scope that is now required', () => {
    always(({ optional, asked }) => {
      for (const one of asked) {
        const requiredNow = !optional.includes(one.scope);
        expect(one.required).toBe(requiredNow);
        expect(isUndecided(one)).toBe(one.decision === null || (one.decision === 'declined' && requiredNow));
      }
    });
  });
});

describe('the scope granted without a consent page', () => {
  it('is exactly what was allowed, and only when no decision is open', () => {
    always(({ asked }) => {
      const scope = allowedEarlier(asked);
      if (scope === null) {
        expect(asked.some(isUndecided) || asked.every(({ decision }) => decision === 'declined')).toBe(true);
      } else {
        expect(asked.filter(isUndecided)).toEqual([]);
        expect(tokens(scope)).toEqual(
          asked.filter(({ decision }) => decision === 'allowed').map((one) => one.scope),
        );
        for (const one of asked.filter(({ required }) => required))
          expect(tokens(scope)).toContain(one.scope);
      }
    });
  });

  it('is exactly what the last Allow granted, and stays the same', () => {
    always(({ scope, optional, decisions, asked }) => {
      const allowed = allowedByForm(asked, ticking(scope.filter((token) => token.endsWith('read'))));
      const now = [{ asked: scope.join(' '), allowed }, ...decisions];
      const before = allowedEarlier(requestedScopes(scope.join(' '), { optionalScopes: optional }, now));
      expect(before).toBe(allowed === '' ? null : allowed);
      // An answer without a question is recorded as a decision, too: it says nothing new.
      if (before === null) return;
      const later = [{ asked: scope.join(' '), allowed: before }, ...now];
      expect(allowedEarlier(requestedScopes(scope.join(' '), { optionalScopes: optional }, later))).toBe(
        before,
      );
    });
  });

  it('is everything for a first-party application, except declined optional scopes', () => {
    always(({ asked }) => {
      const expected = asked
        .filter(({ required, decision }) => required || decision !== 'declined')
        .map((one) => one.scope);
      expect(tokens(allowedToFirstParty(asked))).toEqual(expected);
    });
  });
});

describe('Allow', () => {
  it('grants the required scopes and the ticked optional ones, and never more than requested', () => {
    fc.assert(
      fc.property(situation, some, ({ scope, optional, decisions }, ticked) => {
        const asked = requestedScopes(scope.join(' '), { optionalScopes: optional }, decisions);
        const allowed = tokens(allowedByForm(asked, ticking(ticked)));
        expect(allowed).toEqual(scope.filter((token) => !optional.includes(token) || ticked.includes(token)));
      }),
      { numRuns: 1_000 },
    );
  });
});
