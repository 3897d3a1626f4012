import { EventLoopDelay } from '#platform/http/overload.js';
import type { FastifyInstance } from 'fastify';
import { STALL_MS, stallRule } from '#platform/http/request-hooks.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';

class Loop {
  private time = 1_000;
  private idle = 0;
  private readonly delay = new EventLoopDelay({ now: () => this.time, idle: () => this.idle });

  /** Runs a turn of `requests` that each take `each` milliseconds, a wait and the timer. @returns refused requests */
  turn(requests: number, each: number, wait = 0): number {
    let refused = 0;
    for (let n = 0; n < requests; n += 1) {
      if (this.delay.isOverloaded()) refused += 1;
      else this.time += each;
    }
    this.time += wait;
    this.idle += wait;
    this.delay.check();
    return refused;
  }
}

describe('the overload detection', () => {
  it('does not refuse requests while turns are short, even if many requests arrive', () => {
    const loop = new Loop();
    for (let turn = 0; turn < 1_000; turn += 1) expect(loop.turn(250, 1)).toBe(0);
  });

  it('does not refuse requests after a single pause of any length', () => {
    const loop = new Loop();
    expect(loop.turn(2, 10_000)).toBe(0);
    expect(loop.turn(100, 1)).toBe(0);
    expect(loop.turn(2, 10_000)).toBe(0);
  });

  it('does not refuse requests in a burst shorter than half a second', () => {
    const loop = new Loop();
    for (let turn = 0; turn < 2; turn += 1) expect(loop.turn(300, 1)).toBe(0);
    expect(loop.turn(1, 1)).toBe(0);
    for (let turn = 0; turn < 2; turn += 1) expect(loop.turn(300, 1)).toBe(0);
  });

  // Simulates other processes that use the CPU: each turn is late, but this process still waits for requests.
  it('does not refuse requests while the process is late but has idle time', () => {
    const loop = new Loop();
    for (let turn = 0; turn < 100; turn += 1) expect(loop.turn(3, 300, 150)).toBe(0);
  });
});

describe('a process that has been late for half a second without waiting', () => {
  const overloaded = (): Loop => {
    const loop = new Loop();
    for (let turn = 0; turn < 3; turn += 1) expect(loop.turn(300, 1)).toBe(0);
    return loop;
  };

  it('accepts requests in each turn up to the limit, and refuses the remaining requests', () => {
    const loop = overloaded();
    for (let turn = 0; turn < 100; turn += 1) expect(loop.turn(400, 1)).toBe(400 - 251);
  });

  it('always accepts the first request of a turn, even if the requests are slow', () => {
    const loop = overloaded();
    for (let turn = 0; turn < 10; turn += 1) expect(loop.turn(3, 1_000)).toBe(2);
  });

  it.each([
    ['a turn in time', (loop: Loop) => loop.turn(100, 1)],
    ['a wait', (loop: Loop) => loop.turn(0, 0, 500)],
  ])('stops refusing requests after %s', (_what, recover) => {
    const loop = overloaded();
    expect(loop.turn(400, 1)).toBeGreaterThan(0);
    recover(loop);
    expect(loop.turn(400, 1)).toBe(0);
  });
});

describe('a request in a long turn of the event loop', () => {
  let time = 0;
  let close: () => unknown;
  let refuse: ReturnType<typeof stallRule>;

  beforeAll(() => {
    const fastify = { addHook: (_onClose: string, hook: () => unknown) => (close = hook) };
    refuse = stallRule(fastify as unknown as Pick<FastifyInstance, 'addHook'>, () => time);
  });
  afterAll(() => close());

  const request = (method = 'GET') => {
    try {
      refuse({ method });
      return undefined;
    } catch (refusal) {
      return refusal;
    }
  };

  it('is refused after the stall time, even if it follows other requests in the same turn', () => {
    // The test is synchronous, so that no timer runs between the requests.
    const inTime = [0, STALL_MS / 2, STALL_MS].map((at) => {
      time = at;
      return request();
    });
    expect(inTime).toEqual([undefined, undefined, undefined]);
    time = STALL_MS + 1;
    expect(request()).toBeInstanceOf(RefusedRequestError);
  });

  it('is not refused if it is a preflight, because a script cannot read the 503 after a failed preflight', () => {
    time = STALL_MS + 1;
    expect(request('OPTIONS')).toBeUndefined();
  });
});
