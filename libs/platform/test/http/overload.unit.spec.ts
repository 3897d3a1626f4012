import { EventLoopDelay } from '#platform/http/overload.js';

/** An event loop on a clock of ours. */
class Loop {
  private time = 1_000;
  private idle = 0;
  private readonly delay = new EventLoopDelay({ now: () => this.time, idle: () => this.idle });

  /** One turn reads so many requests of so many milliseconds, waits, and runs the timer. @returns how many were refused */
  turn(requests: number, each: number, wait = 0): number {
    let refused = 0;
    for (let n = 0; n < requests; n += 1) {
      if (this.delay.isTooLong()) refused += 1;
      else this.time += each;
    }
    this.time += wait;
    this.idle += wait;
    this.delay.check();
    return refused;
  }
}

it('refuses nothing in time, however many requests there are', () => {
  const loop = new Loop();
  for (let turn = 0; turn < 1_000; turn += 1) expect(loop.turn(250, 1)).toBe(0);
});

it('refuses nothing because of one pause, however long it was', () => {
  const loop = new Loop();
  expect(loop.turn(2, 10_000)).toBe(0);
  expect(loop.turn(100, 1)).toBe(0);
  expect(loop.turn(2, 10_000)).toBe(0);
});

it('refuses nothing of a burst that is over after half a second', () => {
  const loop = new Loop();
  for (let turn = 0; turn < 2; turn += 1) expect(loop.turn(300, 1)).toBe(0);
  expect(loop.turn(1, 1)).toBe(0);
  for (let turn = 0; turn < 2; turn += 1) expect(loop.turn(300, 1)).toBe(0);
});

// Other processes have the processor: each turn is late, and yet it waits for the next request.
it('refuses nothing of a process that is late but waits', () => {
  const loop = new Loop();
  for (let turn = 0; turn < 100; turn += 1) expect(loop.turn(3, 300, 150)).toBe(0);
});

describe('a process that has been late for half a second without waiting', () => {
  const overloaded = (): Loop => {
    const loop = new Loop();
    for (let turn = 0; turn < 3; turn += 1) expect(loop.turn(300, 1)).toBe(0);
    return loop;
  };

  it('accepts in each turn what it can do in time, and refuses the rest', () => {
    const loop = overloaded();
    for (let turn = 0; turn < 100; turn += 1) expect(loop.turn(400, 1)).toBe(400 - 251);
  });

  it('always accepts the first request of a turn, whatever it costs', () => {
    const loop = overloaded();
    for (let turn = 0; turn < 10; turn += 1) expect(loop.turn(3, 1_000)).toBe(2);
  });

  it.each([
    ['a turn in time', (loop: Loop) => loop.turn(100, 1)],
    ['a wait', (loop: Loop) => loop.turn(0, 0, 500)],
  ])('refuses nothing any more after %s', (_what, recover) => {
    const loop = overloaded();
    expect(loop.turn(400, 1)).toBeGreaterThan(0);
    recover(loop);
    expect(loop.turn(400, 1)).toBe(0);
  });
});
