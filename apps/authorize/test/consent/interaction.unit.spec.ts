import fc from 'fast-check';
import {
  grantedByForm,
  grantedEarlier,
  grantedToFirstParty,
  checkboxOf,
  isUndecided,
  requestedScopes,
} from '../../src/consent/interaction.js';

const SCOPES = ['profile:read', 'schedules:read', 'schedules:write', 'bookings:read', 'bookings:write'];

const APIS = ['https://api.example.com', 'https://bookings.example.com'];

const some = fc.subarray(SCOPES);
const someApis = fc.subarray(APIS).map((apis) => (apis.length === 0 ? null : apis.join(' ')));
const decisionArbitrary = fc
  .record({ requested: some, resources: someApis })
  .chain(({ requested, resources }) =>
    fc
      .subarray(requested)
      .map((granted) => ({ requested: requested.join(' '), granted: granted.join(' '), resources })),
  );
const situation = fc.record({
  scope: fc.subarray(SCOPES, { minLength: 1 }),
  resources: someApis,
  optional: some,
  decisions: fc.array(decisionArbitrary, { maxLength: 6 }),
});

type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

function always(rule: (given: Situation & { requested: ReturnType<typeof requestedScopes> }) => void): void {
  fc.assert(
    fc.property(situation, (given) => {
      rule({ ...given, requested: requestedOf(given, given.decisions) });
    }),
    { numRuns: 1_000 },
  );
}

function requestedOf(
  { scope, resources, optional }: Pick<Situation, 'scope' | 'resources' | 'optional'>,
  decisions: Situation['decisions'],
) {
  return requestedScopes({ scope: scope.join(' '), resources }, { optionalScopes: optional }, decisions);
}

const ticking = (scopes: readonly string[]) =>
  Object.fromEntries(scopes.map((scope) => [checkboxOf(scope), 'yes']));

const tokens = (list: string | null) => (list === null || list === '' ? [] : list.split(' '));
const apisOf = (resources: string | null) =>
  resources === null ? [...APIS, 'any other'] : tokens(resources);

describe('the earlier decision on a scope', () => {
  // @rfc 8707 2.2
  it('is the latest decision that declined the scope, or allowed it for every API of the request', () => {
    always(({ scope, resources, decisions, requested }) => {
      expect(requested.map((entry) => entry.scope)).toEqual(scope);
      for (const { scope: token, decision } of requested) {
        const last = decisions.find(
          (grant) =>
            tokens(grant.requested).includes(token) &&
            (!tokens(grant.granted).includes(token) ||
              apisOf(resources).every((api) => apisOf(grant.resources).includes(api))),
        );
        const expected = last && (tokens(last.granted).includes(token) ? 'granted' : 'declined');
        expect(decision).toBe(expected ?? null);
      }
    });
  });

  it('is not changed by a decision on other scopes', () => {
    always((given) => {
      const { scope, decisions, requested } = given;
      const others = SCOPES.filter((token) => !scope.includes(token)).join(' ');
      for (const granted of ['', others]) {
        const more = [{ requested: others, granted, resources: null }, ...decisions];
        expect(requestedOf(given, more)).toEqual(requested);
      }
    });
  });

  it('must be repeated only if it declined a scope that is now required', () => {
    always(({ optional, requested }) => {
      for (const entry of requested) {
        const requiredNow = !optional.includes(entry.scope);
        expect(entry.required).toBe(requiredNow);
        expect(isUndecided(entry)).toBe(
          entry.decision === null || (entry.decision === 'declined' && requiredNow),
        );
      }
    });
  });
});

describe('the scope granted without a consent page', () => {
  it('is exactly the scope granted earlier, and exists only if no scope is undecided', () => {
    always(({ requested }) => {
      const scope = grantedEarlier(requested);
      if (scope === null) {
        expect(
          requested.some(isUndecided) || requested.every(({ decision }) => decision === 'declined'),
        ).toBe(true);
      } else {
        expect(requested.filter(isUndecided)).toEqual([]);
        expect(tokens(scope)).toEqual(
          requested.filter(({ decision }) => decision === 'granted').map((entry) => entry.scope),
        );
        for (const entry of requested.filter(({ required }) => required))
          expect(tokens(scope)).toContain(entry.scope);
      }
    });
  });

  it('is exactly the scope of the last decision on the consent page, and does not change when it is granted again', () => {
    always((given) => {
      const { scope, resources, decisions, requested } = given;
      const granted = grantedByForm(requested, ticking(scope.filter((token) => token.endsWith('read'))));
      const now = [{ requested: scope.join(' '), granted, resources }, ...decisions];
      const before = grantedEarlier(requestedOf(given, now));
      expect(before).toBe(granted === '' ? null : granted);
      // A grant without a consent page is also recorded as a decision, which must not change the scope.
      if (before === null) return;
      const later = [{ requested: scope.join(' '), granted: before, resources }, ...now];
      expect(grantedEarlier(requestedOf(given, later))).toBe(before);
    });
  });

  it('is the whole requested scope for a first-party application, except declined optional scopes', () => {
    always(({ requested }) => {
      const expected = requested
        .filter(({ required, decision }) => required || decision !== 'declined')
        .map((entry) => entry.scope);
      expect(tokens(grantedToFirstParty(requested))).toEqual(expected);
    });
  });
});

describe('Allow', () => {
  it('grants the required scopes and the ticked optional scopes, but never more than requested', () => {
    fc.assert(
      fc.property(situation, some, (given, ticked) => {
        const { scope, optional, decisions } = given;
        const requested = requestedOf(given, decisions);
        const granted = tokens(grantedByForm(requested, ticking(ticked)));
        expect(granted).toEqual(scope.filter((token) => !optional.includes(token) || ticked.includes(token)));
      }),
      { numRuns: 1_000 },
    );
  });
});
