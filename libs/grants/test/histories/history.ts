import fc from 'fast-check';

/** Event of a grant. `back` counts back from the newest pair of the grant. */
export type Event =
  | { readonly do: 'refresh'; readonly places: number; readonly lost: boolean }
  | { readonly do: 'use' }
  | { readonly do: 'replay'; readonly back: number }
  | { readonly do: 'replay-code' }
  | { readonly do: 'foreign'; readonly back: number }
  | { readonly do: 'introspect'; readonly back: number }
  | { readonly do: 'revoke' }
  /** A replica or a backup copies Redis. */
  | { readonly do: 'copy' }
  | { readonly do: 'wipe' }
  /** The copy replaces the data in Redis, which loses the latest writes. */
  | { readonly do: 'fall-back' };

interface GrantEvent {
  readonly grant: number;
  readonly process: number;
  readonly event: Event;
}

/** Concurrent events, and the pause in seconds until the next round. */
interface Round {
  readonly happenings: readonly GrantEvent[];
  readonly pause: number;
}

export interface History {
  /** Number of grants, which belong to two clients alternately. */
  readonly grants: number;
  readonly rounds: readonly Round[];
}

const back = fc.nat({ max: 3 });
const occasionally = fc.integer({ min: 0, max: 3 }).map((n) => n === 0);

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({
      do: fc.constant('refresh' as const),
      places: fc.constantFrom(1, 1, 2, 3),
      lost: occasionally,
    }),
  },
  { weight: 6, arbitrary: fc.constant({ do: 'use' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('replay' as const), back }) },
  { weight: 1, arbitrary: fc.constant({ do: 'replay-code' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('foreign' as const), back }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('introspect' as const), back }) },
  { weight: 2, arbitrary: fc.constant({ do: 'revoke' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'copy' as const }) },
  { weight: 5, arbitrary: fc.constant({ do: 'wipe' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'fall-back' as const }) },
);

const round = fc.record({
  happenings: fc.array(fc.record({ grant: fc.nat({ max: 2 }), process: fc.nat({ max: 3 }), event }), {
    minLength: 1,
    maxLength: 5,
  }),
  // Pauses inside and outside the retry window, and until an access token or a refresh token has expired.
  pause: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(0, 0, 1, 9, 20) },
    { weight: 5, arbitrary: fc.constantFrom(30, 40) },
    { weight: 2, arbitrary: fc.constant(31 * 60) },
    { weight: 1, arbitrary: fc.constant(91 * 24 * 60 * 60) },
  ),
});

/** Random events of a few grants while Redis loses data. */
export const histories: fc.Arbitrary<History> = fc.record({
  grants: fc.integer({ min: 1, max: 3 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 12 }),
});
