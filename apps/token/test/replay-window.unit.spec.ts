import fc from 'fast-check';
import { ReplayWindow } from '../src/revocation/replay-window.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('how far back revocations are looked at', () => {
  it('is a day at the start, and stays there until a pass has carried all out', () => {
    const window = new ReplayWindow(0);
    expect(window.age(0)).toBeGreaterThanOrEqual(DAY);
    expect(window.age(3 * HOUR)).toBeGreaterThanOrEqual(DAY + 3 * HOUR);
    window.passed(3 * HOUR, 3 * HOUR + SECOND);
    expect(window.age(3 * HOUR + 5 * SECOND)).toBeLessThan(2 * MINUTE);
  });

  it('is to the beginning of the last pass that succeeded, and a minute more for what commits late', () => {
    const window = new ReplayWindow(0);
    window.passed(10 * SECOND, 40 * SECOND);
    expect(window.age(45 * SECOND)).toBe(35 * SECOND + MINUTE);
    expect(window.age(45 * SECOND + 2 * HOUR)).toBe(35 * SECOND + MINUTE + 2 * HOUR);
  });

  it('is ten minutes where broadcasts were lost, and more where more is not carried out', () => {
    const window = new ReplayWindow(0);
    window.passed(DAY, DAY);
    window.broadcastsLost(DAY + SECOND);
    expect(window.age(DAY + SECOND)).toBe(11 * MINUTE);
    window.broadcastsLost(DAY + 3 * HOUR);
    expect(window.age(DAY + 3 * HOUR)).toBe(11 * MINUTE + 3 * HOUR - SECOND);
  });

  /** What happens, and how long after what was before it. */
  const histories = fc.array(
    fc.tuple(fc.constantFrom('pass', 'pass', 'pass', 'redis', 'broadcasts'), fc.nat({ max: 20 * MINUTE })),
    { minLength: 1, maxLength: 60 },
  );

  it('after a fail-over reaches all that was carried out less than ten minutes before, however late that was', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const window = new ReplayWindow(0);
        let now = 0;
        /** Before this all was carried out; and from which moment on the passes of late were the first to do so, and when. */
        let done = -DAY;
        let passes: { from: number; at: number }[] = [];
        for (const [what, after] of history) {
          now += after;
          if (what === 'pass') {
            passes.push({ from: done, at: now });
            window.passed(now, now);
            done = now;
          } else if (what === 'broadcasts') window.broadcastsLost(now);
          else {
            const lost = passes.filter(({ at }) => now - at < 10 * MINUTE);
            window.redisLost(now);
            for (const { from } of lost) expect(now - window.age(now)).toBeLessThanOrEqual(from - MINUTE);
            [done, passes] = [now - window.age(now) + MINUTE, []];
          }
          expect(window.age(now)).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('goes back no more than half an hour when all is carried out every few seconds', () => {
    const window = new ReplayWindow(0);
    let now = 0;
    for (; now < HOUR; now += 5 * SECOND) window.passed(now, now + SECOND);
    window.redisLost(now);
    expect(window.age(now)).toBeGreaterThanOrEqual(11 * MINUTE);
    expect(window.age(now)).toBeLessThan(30 * MINUTE);
  });
});
