import { PasswordGate } from '../../src/login/password-gate.js';

describe('the password gate', () => {
  /** Creates tasks that run until the test ends them, and counts the running tasks. */
  const work = () => {
    const ends: (() => void)[] = [];
    const state = { running: 0, most: 0, done: 0 };
    const run = () =>
      new Promise<void>((resolve) => {
        state.running += 1;
        state.most = Math.max(state.most, state.running);
        ends.push(() => {
          state.running -= 1;
          state.done += 1;
          resolve();
        });
      });
    return { state, run, ends };
  };

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  // @deviation D20
  it('limits concurrent verifications, and runs all of them', async () => {
    const gate = new PasswordGate(3, 10, 0);
    const { state, run, ends } = work();
    const all = Promise.all(Array.from({ length: 13 }, () => gate.run(run)));
    while (state.done < 13) {
      await turn();
      ends.shift()?.();
    }
    await all;
    expect(state.most).toBe(3);
  });

  it('rejects with 503 when the queue is full, and accepts again afterwards', async () => {
    const gate = new PasswordGate(1, 1, 0);
    const { state, run, ends } = work();
    const first = gate.run(run);
    const second = gate.run(run);
    await expect(gate.run(run)).rejects.toMatchObject({ status: 503, code: 'temporarily_unavailable' });
    ends.shift()?.();
    await first;
    await turn();
    ends.shift()?.();
    await second;
    expect(state.done).toBe(2);
    await expect(gate.run(async () => 'in')).resolves.toBe('in');
  });

  it('reserves places for known devices', async () => {
    const gate = new PasswordGate(1, 3, 1);
    const { state, run, ends } = work();
    const unknownDevices = [gate.run(run), gate.run(run), gate.run(run)];
    await expect(gate.run(run)).rejects.toMatchObject({ status: 503 });
    const device = gate.run(run, true);
    await expect(gate.run(run, true)).rejects.toMatchObject({ status: 503 });
    while (state.done < 4) {
      await turn();
      ends.shift()?.();
    }
    await Promise.all([...unknownDevices, device]);
  });

  it('frees the place of a verification that fails', async () => {
    const gate = new PasswordGate(1, 1, 0);
    const fail = () => gate.run(() => Promise.reject(new Error('no')));
    await expect(fail()).rejects.toThrow('no');
    await expect(fail()).rejects.toThrow('no');
    await expect(gate.run(async () => 'in')).resolves.toBe('in');
  });
});
