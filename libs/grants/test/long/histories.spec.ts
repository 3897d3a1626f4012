import fc from 'fast-check';
import { histories } from './history.js';
import { playHistory } from './play-history.js';
import { openStage } from './stage.js';

// `npm run test:long` plays 10 000. A failure prints its seed: SEED=… plays the same histories again, in the same
// order, though processes never interleave twice in quite the same way.
const HISTORIES = Number(process.env['HISTORIES'] ?? 400);
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const PROCESSES = HISTORIES > 1_000 ? 4 : 2;
/** Histories that are under way at the same time. */
const LANES = 12;

describe('concurrent histories of many clients, several processes, and a Redis that forgets', () => {
  it.each([
    ['with a retry window', 30, 0.75],
    ['with single use', 0, 0.25],
  ])(
    'never two live successors, never a live token after revocation, never a logged-out honest client (%s)',
    async (_, retryWindow, share) => {
      const stage = await openStage(PROCESSES, retryWindow);
      try {
        await Promise.all(
          Array.from({ length: LANES }, (_lane, lane) =>
            fc.assert(
              fc.asyncProperty(histories, (history) => playHistory(stage, history)),
              {
                numRuns: Math.ceil((HISTORIES * share) / LANES),
                seed: SEED + lane,
                endOnFailure: !process.env['SEED'],
              },
            ),
          ),
        );
      } finally {
        await stage.close();
      }
    },
    30_000 + HISTORIES * 20,
  );
});
