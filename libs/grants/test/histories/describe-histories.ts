import fc from 'fast-check';
import { type History, histories } from './history.js';
import { playHistory } from './play-history.js';
import { openTheatre, type Stage, type Theatre } from './stage.js';

// A failure prints its seed: SEED=… plays the same histories again, one after the other, and looks for a shorter one that
// fails; though processes never interleave twice in quite the same way.
const SEED = process.env['SEED'];
const FIRST_SEED = Number(SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Histories that are under way at the same time. */
const LANES = SEED === undefined ? 12 : 1;

/** Plays histories, several at a time; when one breaks a promise the others end as well. */
async function playMany(stage: Stage, count: number): Promise<void> {
  let over = false;
  const play = async (history: History) => {
    if (over) return;
    await playHistory(stage, history).catch((error: unknown) => {
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

/** Plays `count` random histories on as many engines, each in a process of its own. */
export function describeHistories(count: number, processes: number): void {
  let theatre: Theatre;
  beforeAll(async () => {
    theatre = await openTheatre(processes);
  });
  afterAll(() => theatre.close());

  it.each([
    ['with a retry window', 30, 0.75],
    ['with single use', 0, 0.25],
  ])(
    'never leave two live successors, a live token after revocation, or a logged-out honest client (%s)',
    (_, retryWindow, share) => playMany(theatre.stage(retryWindow), count * share),
    // Against a hang, not to measure: on a busy machine one takes a second.
    60_000 + count * 1_000,
  );
}
