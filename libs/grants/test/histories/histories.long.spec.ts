import { Actor } from './actor.js';
import { GrantRequests } from './grant-requests.js';
import {
  histories,
  type History,
  type HistoryEnvironment,
  type HistoryFixture,
  openHistoryFixture,
} from './history-fixture.js';
import fc from 'fast-check';

async function playHistory(environment: HistoryEnvironment, { grants, rounds }: History): Promise<void> {
  let now = Date.now();
  const actors = await Promise.all(
    Array.from(
      { length: grants },
      async (_, number) =>
        new Actor(await GrantRequests.allowed(environment, number, now), environment.retryWindow),
    ),
  );
  for (const { happenings, pause } of rounds) {
    const at = now;
    const eventsOf = (actor: number) =>
      happenings.filter(({ grant }) => grant % grants === actor).map(({ event }) => event);
    actors.forEach((actor, number) => actor.begin(eventsOf(number)));
    const outcomes = await Promise.allSettled(
      happenings.map(async ({ grant, process, event }) => actors[grant % grants]?.act(event, process, at)),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    for (const actor of actors) actor.rest();
    now += pause * 1000;
  }
}

// A failure prints its seed. SEED=… repeats the histories of a seed sequentially and shrinks the failing history.
// HISTORIES=… plays more of them.
const SEED = process.env['SEED'];
const FIRST_SEED = Number(SEED ?? Math.floor(Math.random() * 2 ** 31));
const LANES = SEED === undefined ? 12 : 1;

/** Plays several histories concurrently, until a history breaks an invariant. */
async function playMany(environment: HistoryEnvironment, count: number): Promise<void> {
  let over = false;
  const play = async (history: History) => {
    if (over) return;
    await playHistory(environment, history).catch((error: unknown) => {
      over = LANES > 1;
      throw error;
    });
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => {
    const options = { numRuns: Math.ceil(count / LANES), seed: FIRST_SEED + lane, endOnFailure: LANES > 1 };
    return fc.assert(fc.asyncProperty(histories, play), options);
  });
  const failed = (await Promise.allSettled(lanes)).find((lane) => lane.status === 'rejected');
  if (failed) throw failed.reason;
}

describe('concurrent histories with data losses in Redis', () => {
  const COUNT = Number(process.env['HISTORIES'] ?? 1_000);
  let fixture: HistoryFixture;

  beforeAll(async () => {
    fixture = await openHistoryFixture(4);
  });
  afterAll(() => fixture.close());

  // @reliability histories
  it.each([
    ['with a retry window', 30, 0.75],
    ['with single use', 0, 0.25],
  ])(
    'never leave two live successors, a live token after revocation, or a logged-out honest client (%s)',
    (_, retryWindow, share) => playMany(fixture.environment(retryWindow), COUNT * share),
    // The timeout only detects hangs: it allows the second per history that a busy machine needs.
    60_000 + COUNT * 1_000,
  );
});
