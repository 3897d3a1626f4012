import { randomBytes } from 'node:crypto';
import { KeyRing } from '#keys/key-ring.js';
import { DpopNonce } from '../../src/dpop/dpop-proof.service.js';

const MINUTE = 60_000;
const [one, two] = [randomBytes(32), randomBytes(32)];
let now = 1_800_000_000_000;

const nonces = (...keys: Buffer[]) => new DpopNonce(new KeyRing(keys).keysFor('nonce'), () => now);

describe('a DPoP nonce (RFC 9449 8)', () => {
  it('is the same in every replica for five minutes, and then changes', () => {
    const [ours, theirs] = [nonces(one), nonces(one)];
    const first = ours.current();
    now += 4 * MINUTE;
    expect(theirs.current()).toBe(first);
    now += MINUTE;
    expect(ours.current()).not.toBe(first);
  });

  // @rfc 9449 8.2
  it('is accepted in its window and in the next window, even by a replica whose clock is behind', () => {
    const nonce = nonces(one).current();
    now += 5 * MINUTE;
    expect(nonces(one).accepts(nonce)).toBe(true);
    now += 5 * MINUTE;
    expect(nonces(one).accepts(nonce)).toBe(false);
    now -= 15 * MINUTE;
    expect(nonces(one).accepts(nonce)).toBe(true);
  });

  it('is accepted by every replica while keys rotate', () => {
    const before = nonces(one, two).current();
    const after = nonces(two, one).current();
    expect(before).not.toBe(after);
    for (const ring of [nonces(one, two), nonces(two, one)])
      expect([ring.accepts(before), ring.accepts(after)]).toEqual([true, true]);
  });

  // @rfc 9449 4.3(10) @rfc 9449 8
  it('is refused if it is from another key ring or has a changed bit', () => {
    const ours = nonces(one);
    expect(ours.accepts(nonces(two).current())).toBe(false);
    const bytes = Buffer.from(ours.current(), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(ours.accepts(changed.toString('base64url'))).toBe(false);
    }
    for (const text of ['', 'x', `${ours.current()}A`]) expect(ours.accepts(text)).toBe(false);
  });
});
