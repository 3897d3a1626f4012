import { setImmediate as nextTurn } from 'node:timers/promises';
import { BackgroundLoop } from '#platform/background-loop.js';
import { until } from '#test/support/until.js';

const NEVER = 60_000;

describe('a background loop', () => {
  let [runs, reports] = [0, [] as string[]];
  let task: () => Promise<void>;
  let loop: BackgroundLoop;

  const start = (intervals: { pass: number; retry: number }) => {
    loop = new BackgroundLoop(
      () => (runs++, task()),
      intervals,
      (reason) => reports.push(reason),
    );
    loop.run();
  };
  /** Waits for further runs, the last of which may be in progress. */
  async function moreRuns(count: number): Promise<void> {
    const end = runs + count;
    await until(`the task has run ${count} more times`, NEVER, () => runs >= end);
  }

  beforeEach(() => {
    [runs, reports] = [0, []];
    task = () => Promise.resolve();
  });
  afterEach(() => loop.stop());

  it('repeats its task after the interval', async () => {
    start({ pass: 1, retry: NEVER });
    await moreRuns(3);
  });

  it('reports a failure once until a run succeeds, and retries', async () => {
    task = () => Promise.reject(new Error('unavailable'));
    start({ pass: 1, retry: 1 });
    await moreRuns(3);
    expect(reports).toEqual(['unavailable']);
    task = () => Promise.resolve();
    await moreRuns(2);
    task = () => Promise.reject(new Error('unavailable again'));
    await moreRuns(2);
    expect(reports).toEqual(['unavailable', 'unavailable again']);
  });

  it('runs its task immediately on request, but not concurrently', async () => {
    let finish: () => void = () => undefined;
    task = () => new Promise((resolve) => (finish = resolve));
    start({ pass: NEVER, retry: NEVER });
    loop.run();
    await nextTurn();
    expect(runs).toBe(1);
    finish();
    await nextTurn();
    loop.run();
    expect(runs).toBe(2);
    finish();
  });

  it('does not run or report a failure after it has stopped', async () => {
    let fail: () => void = () => undefined;
    task = () => new Promise((_, reject) => (fail = () => reject(new Error('closed'))));
    start({ pass: 1, retry: 1 });
    loop.stop();
    fail();
    loop.run();
    await nextTurn();
    expect([runs, reports]).toEqual([1, []]);
  });
});
