import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { KeyRing, type TokenKind } from '#grants/key-ring.js';
import { type Token, TokenCodec } from '#grants/token-codec.js';

const key = () => randomBytes(32);
const [first, second] = [key(), key()];
const codec = new TokenCodec(new KeyRing([first]));

const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
const tokens: fc.Arbitrary<Token> = fc.record({
  kind: fc.constantFrom<TokenKind>('code', 'access', 'refresh'),
  handle: bytes16,
  generation: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  expiry: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
  bound: fc.boolean(),
  narrowed: fc.boolean(),
});

describe('the token format', () => {
  it('gives back what was written', () => {
    fc.assert(fc.property(tokens, (token) => expect(codec.decode(codec.encode(token))).toEqual(token)));
  });

  it('has one spelling for each token, and writes it again the same', () => {
    fc.assert(
      fc.property(tokens, (token) => {
        const text = codec.encode(token);
        expect(text).toMatch(/^(sac|sat|srt)_[\w-]{84}$/);
        expect(codec.encode(token)).toBe(text);
      }),
    );
  });

  it('refuses a token with any bit flipped', () => {
    fc.assert(
      fc.property(tokens, fc.nat({ max: 63 * 8 - 1 }), (token, bit) => {
        const text = codec.encode(token);
        const bytes = Buffer.from(text.slice(4), 'base64url');
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(codec.decode(text.slice(0, 4) + bytes.toString('base64url'))).toBeNull();
      }),
      { numRuns: 1000 },
    );
  });

  it('refuses a token under the prefix of another kind', () => {
    fc.assert(
      fc.property(tokens, fc.constantFrom('sac_', 'sat_', 'srt_'), (token, prefix) => {
        const text = codec.encode(token);
        if (!text.startsWith(prefix)) expect(codec.decode(prefix + text.slice(4))).toBeNull();
      }),
    );
  });

  it('refuses a token of a foreign key', () => {
    const foreign = new TokenCodec(new KeyRing([second]));
    fc.assert(fc.property(tokens, (token) => expect(codec.decode(foreign.encode(token))).toBeNull()));
  });

  it('refuses every other text', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(codec.decode(text)).toBeNull()));
    fc.assert(
      fc.property(tokens, fc.string({ minLength: 1 }), (token, more) =>
        expect(codec.decode(codec.encode(token) + more)).toBeNull(),
      ),
    );
  });

  it('has a subkey for each kind: the MAC of one is never that of another', () => {
    fc.assert(
      fc.property(tokens, fc.constantFrom<TokenKind>('code', 'access', 'refresh'), (token, kind) => {
        const [one, other] = [codec.encode(token), codec.encode({ ...token, kind })].map((text) =>
          Buffer.from(text.slice(4), 'base64url').subarray(31),
        );
        expect(one?.equals(other ?? Buffer.alloc(0))).toBe(token.kind === kind);
      }),
    );
  });
});

describe('tokens bound to a key (RFC 9449)', () => {
  const thumbprint = fc.base64String({ minLength: 44, maxLength: 44 });

  it('are read with that key only', () => {
    fc.assert(
      fc.property(tokens, thumbprint, thumbprint, (token, jkt, other) => {
        fc.pre(jkt !== other);
        const text = codec.encode({ ...token, bound: true }, jkt);
        expect(codec.decode(text, jkt)).toEqual({ ...token, bound: true });
        expect(codec.decode(text, other)).toBeNull();
        expect(codec.decode(text)).toBeNull();
      }),
    );
  });

  it('are known as ours without the key, and a forged one is not', () => {
    fc.assert(
      fc.property(tokens, thumbprint, fc.nat({ max: 47 * 8 - 1 }), (token, jkt, bit) => {
        const text = codec.encode({ ...token, bound: true }, jkt);
        expect(codec.decodeUnproved(text)).toEqual({ ...token, bound: true });
        const bytes = Buffer.from(text.slice(4), 'base64url');
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(codec.decodeUnproved(text.slice(0, 4) + bytes.toString('base64url'))).toBeNull();
      }),
    );
  });

  it('and bearer tokens are read whatever key was proved', () => {
    fc.assert(
      fc.property(tokens, thumbprint, (token, jkt) => {
        const bearer = { ...token, bound: false };
        expect(codec.decode(codec.encode(bearer), jkt)).toEqual(bearer);
      }),
    );
  });
});

describe('the key ring', () => {
  it('reads tokens of every key and writes with the first, so that keys rotate with nobody logged out', () => {
    const before = new TokenCodec(new KeyRing([first]));
    const after = new TokenCodec(new KeyRing([second, first]));
    fc.assert(
      fc.property(tokens, (token) => {
        expect(after.decode(before.encode(token))).toEqual(token);
        expect(before.decode(after.encode(token))).toBeNull();
      }),
    );
  });

  it('refuses no key, a key that is too short, and the same key twice', () => {
    expect(() => new KeyRing([])).toThrow(RangeError);
    expect(() => new KeyRing([randomBytes(31)])).toThrow(RangeError);
    expect(() => new KeyRing([first, first])).toThrow(RangeError);
    expect(() => KeyRing.parse('c2hvcnQ')).toThrow(RangeError);
  });
});
