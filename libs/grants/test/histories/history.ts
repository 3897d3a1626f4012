import fc from 'fast-check';

/** Something that happens to one of a history's grants. `back` counts from the newest pair it ever had. */
export type Event =
  /** Its client, honest, refreshes by the newest pair it received, in several places at once; answers may get lost. */
  | { readonly do: 'refresh'; readonly places: number; readonly lost: boolean }
  /** Its client uses its newest access token. */
  | { readonly do: 'use' }
  /** Somebody presents a refresh token that is not, or not any more, his to present. */
  | { readonly do: 'replay'; readonly back: number }
  | { readonly do: 'replay-code' }
  /** Another client presents its tokens. */
  | { readonly do: 'foreign'; readonly back: number }
  | { readonly do: 'introspect'; readonly back: number }
  | { readonly do: 'revoke' }
  /** A copy of Redis is taken, as a replica or a backup has it. */
  | { readonly do: 'copy' }
  /** Redis loses everything. */
  | { readonly do: 'wipe' }
  /** Redis goes back to the copy: its last writes are lost. */
  | { readonly do: 'fall-back' };

interface Happening {
  readonly grant: number;
  /** Which process serves it. */
  readonly process: number;
  readonly event: Event;
}

/** What happens at once, and the seconds until the next round. */
interface Round {
  readonly happenings: readonly Happening[];
  readonly pause: number;
}

export interface History {
  /** Grants of two clients in turn. */
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
  // Inside and outside the retry window; past an access token's life; past a refresh token's.
  pause: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(0, 0, 1, 9, 20) },
    { weight: 5, arbitrary: fc.constantFrom(30, 40) },
    { weight: 2, arbitrary: fc.constant(31 * 60) },
    { weight: 1, arbitrary: fc.constant(91 * 24 * 60 * 60) },
  ),
});

/** Random histories: what many hands do to a few grants while Redis forgets. */
export const histories: fc.Arbitrary<History> = fc.record({
  grants: fc.integer({ min: 1, max: 3 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 12 }),
});
