import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { PasswordGate } from '../../src/login/password.service.js';
import { DeviceProofs } from '../../src/login/throttle/device-cookie.js';

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

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 21, 12);
const key = randomBytes(32);
const proofs = new DeviceProofs([key], () => NOW);

const login = fc
  .string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
  .filter((text) => text.trim() !== '');
const person = fc.record({
  id: fc.integer({ min: 1 }),
  username: login.map((text) => text.replaceAll('@', '')),
  email: login.map((text) => `${text}@example.com`),
});

describe('a device proof', () => {
  it('is valid for the e-mail, user name and id of its user, with any key of the ring', () => {
    fc.assert(
      fc.property(person, (user) => {
        const proof = proofs.issue(user);
        expect(proof).toMatch(/^[\w-]{88}$/);
        const rotated = new DeviceProofs([randomBytes(32), key], () => NOW + 180 * DAY);
        for (const reader of [proofs, rotated]) {
          const device = reader.deviceOf(proof, ` ${user.email.toLowerCase()}`);
          expect(device).toHaveLength(16);
          expect(reader.deviceOf(proof, user.username)).toEqual(device);
          expect(reader.isOf(proof, user.id)).toBe(true);
        }
      }),
    );
  });

  it('is invalid for other users and after its lifetime', () => {
    fc.assert(
      fc.property(person, person, (user, other) => {
        fc.pre(other.id !== user.id);
        const same = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();
        fc.pre(!same(other.email, user.email) && !same(other.username, user.username));
        const proof = proofs.issue(user);
        expect(proofs.deviceOf(proof, other.email)).toBeNull();
        expect(proofs.deviceOf(proof, other.username)).toBeNull();
        expect(proofs.isOf(proof, other.id)).toBe(false);
        const later = new DeviceProofs([key], () => NOW + 181 * DAY);
        expect(later.deviceOf(proof, user.email)).toBeNull();
        expect(later.isOf(proof, user.id)).toBe(false);
        expect(later.isUnexpired(proof)).toBe(false);
      }),
    );
  });

  it('is invalid in a part that was changed, and in all parts if the device id or date was changed', () => {
    fc.assert(
      fc.property(person, fc.nat({ max: 66 * 8 - 1 }), (user, bit) => {
        const bytes = Buffer.from(proofs.issue(user), 'base64url');
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        const proof = bytes.toString('base64url');
        const part = bit >> 3 < 18 ? 'body' : ['email', 'username', 'id'][((bit >> 3) - 18) >> 4];
        expect(proofs.deviceOf(proof, user.email) !== null).toBe(part === 'username' || part === 'id');
        expect(proofs.deviceOf(proof, user.username) !== null).toBe(part === 'email' || part === 'id');
        expect(proofs.isOf(proof, user.id)).toBe(part === 'email' || part === 'username');
      }),
    );
  });

  it('is rejected without an exception if it is arbitrary text', () => {
    const looks = fc.oneof(
      fc.string(),
      fc
        .uint8Array({ minLength: 60, maxLength: 70 })
        .map((bytes) => Buffer.from(bytes).toString('base64url')),
    );
    fc.assert(
      fc.property(looks, person, (proof, user) => {
        expect(proofs.deviceOf(proof, user.email)).toBeNull();
        expect(proofs.isOf(proof, user.id)).toBe(false);
      }),
    );
  });

  it('does not reveal the user, and contains a new device id each time', () => {
    // A short name could occur in the random bytes: three given letters occur by chance once in 2,600 runs.
    const user = { id: 7, email: 'ada.lovelace@example.com', username: 'ada.lovelace' };
    const made = Array.from({ length: 100 }, () => proofs.issue(user));
    expect(new Set(made.map((proof) => proof.slice(0, 21)))).toHaveProperty('size', 100);
    for (const proof of made)
      expect(Buffer.from(proof, 'base64url').toString('latin1')).not.toContain(user.username);
  });
});
