import fc from 'fast-check';
import { ServerClock } from '#platform/redis/script-deadline.js';

/** A sample: the pause before it, the delays before and after the server reads its clock, and the drift since the last sample. */
const sample = fc.record({
  pause: fc.integer({ min: 0, max: 5_000 }),
  before: fc.integer({ min: 0, max: 3_000 }),
  after: fc.integer({ min: 0, max: 3_000 }),
  drift: fc.double({ min: -0.0005, max: 0.0005, noNaN: true }),
  step: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -60_000, max: 60_000 }) },
  ),
});

describe('the clock of a server', () => {
  it('is never later than the true clock, despite delays, drift, and steps that a fast sample has shown', () => {
    fc.assert(
      fc.property(
        fc.array(sample, { minLength: 1, maxLength: 20 }),
        fc.nat({ max: 5_000 }),
        (samples, later) => {
          const clock = new ServerClock();
          let [now, offset] = [0, 1_800_000_000_000];
          for (const { pause, before, after, drift, step } of samples) {
            now += pause;
            const isFast = step !== 0;
            offset += step + drift * pause;
            const sentAt = now;
            now += isFast ? 0 : before;
            const server = now + offset;
            now += isFast ? 0 : after;
            clock.learn(server, sentAt, now);
          }
          now += later;
          offset -= 0.0005 * later;
          expect(clock.at(now, now)).toBeLessThanOrEqual(now + offset);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is as exact as the fastest sample, if the later samples were slow', () => {
    const clock = new ServerClock();
    clock.learn(1_000_010, 10, 10);
    clock.learn(1_001_010, 1_000, 2_000);
    expect(clock.at(2_000, 2_000)).toBe(1_001_998);
  });
});
