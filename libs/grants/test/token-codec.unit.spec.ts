import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { KeyRing, type TokenKind } from '#keys/key-ring.js';
import { isProvedBy, type Token, TokenCodec } from '#grants/token-codec.js';
import { rearranged } from '#test/support/tokens.js';

const key = () => randomBytes(32);
const [first, second] = [key(), key()];
const codec = new TokenCodec(new KeyRing([first]));

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const bytesOf = (text: string): Buffer => Buffer.from(text.slice(4), 'base64url');

function proved(text: string, jkt: string | null = null): Token | null {
  const token = codec.decode(text);
  return token && isProvedBy(token, jkt) ? token : null;
}

/** Calls `expect`, which takes longer than decoding, only to report a token. */
function expectNone(token: Token | null): void {
  if (token !== null) expect(token).toBeNull();
}

function flipped(text: string, bit: number): string {
  const bytes = bytesOf(text);
  const at = bit % (bytes.length * 8);
  bytes.writeUInt8(bytes.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
  return text.slice(0, 4) + base64url(bytes);
}

const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
const thumbprint = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(base64url);
const commonFields = {
  handle: bytes16,
  generation: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  expiry: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
  scopeMask: fc.integer({ min: 0, max: 2 ** 24 - 1 }),
};
const audiences = fc
  .array(
    fc.string({ unit: fc.constantFrom('a', ':', '/', '.', '-', '7', '~'), minLength: 1, maxLength: 50 }),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((apis) => apis.join(' '));
const ofKind = (...kinds: TokenKind[]) =>
  fc.constantFrom(...kinds).chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      audience: kind === 'access' ? fc.option(audiences) : fc.constant(null),
    }),
  );
const bearerTokens: fc.Arbitrary<Token> = fc
  .tuple(fc.record({ ...commonFields, jkt: fc.constant(null) }), ofKind('code', 'access', 'refresh'))
  .map(([token, kind]) => ({ ...token, ...kind }));
const boundTokens: fc.Arbitrary<Token & { readonly jkt: string }> = fc
  .tuple(fc.record({ ...commonFields, jkt: thumbprint }), ofKind('access', 'refresh'))
  .map(([token, kind]) => ({ ...token, ...kind }));
const tokens: fc.Arbitrary<Token> = fc.oneof(bearerTokens, boundTokens);

describe('the token codec', () => {
  it('decodes an encoded token without loss', () => {
    fc.assert(fc.property(tokens, (token) => expect(codec.decode(codec.encode(token))).toEqual(token)));
  });

  it('encodes a token deterministically, with a predictable length', () => {
    fc.assert(
      fc.property(tokens, (token) => {
        const text = codec.encode(token);
        const audience = Math.ceil((token.audience?.length ?? 0) / 3) * 4;
        expect(text).toMatch(token.jkt === null ? /^(sac|sat|srt)_[\w-]+$/ : /^(sat|srt)_[\w-]+$/);
        expect(text).toHaveLength(4 + (token.jkt === null ? 84 : 128) + audience);
        expect(codec.encode(token)).toBe(text);
      }),
    );
  });

  // @rfc 6749 10.3 @rfc 6749 10.10 @rfc 6750 5.2 @rfc 9700 4.14.2
  it('refuses a token with any bit flipped', () => {
    fc.assert(
      fc.property(tokens, fc.nat(), (token, bit) => {
        expect(codec.decode(flipped(codec.encode(token), bit))).toBeNull();
      }),
      { numRuns: 300 },
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

  // @rfc 6749 10.3
  it('refuses a token made with an unknown key', () => {
    const foreign = new TokenCodec(new KeyRing([second]));
    fc.assert(fc.property(tokens, (token) => expect(codec.decode(foreign.encode(token))).toBeNull()));
  });

  it('refuses a text that is not a token', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(codec.decode(text)).toBeNull()));
    fc.assert(
      fc.property(tokens, fc.string({ minLength: 1 }), (token, more) =>
        expect(codec.decode(codec.encode(token) + more)).toBeNull(),
      ),
    );
  });

  it('uses a subkey for each kind, so that tokens of different kinds never share a MAC', () => {
    fc.assert(
      fc.property(bearerTokens, fc.constantFrom<TokenKind>('code', 'access', 'refresh'), (token, kind) => {
        const [one, other] = [token, { ...token, kind }].map((each) =>
          bytesOf(codec.encode({ ...each, audience: null })).subarray(34),
        );
        expect(one?.equals(other ?? Buffer.alloc(0))).toBe(token.kind === kind);
      }),
    );
  });
});

// @rfc 8707 2
describe('the audience of an access token (RFC 8707)', () => {
  const accessTokens = fc
    .tuple(tokens, audiences)
    .filter(([{ kind }]) => kind !== 'code')
    .map(([token, audience]): Token => ({ ...token, kind: 'access', audience }));

  it('cannot be added, removed, replaced or moved, regardless of the flags', () => {
    fc.assert(
      fc.property(accessTokens, audiences, fc.nat({ max: 255 }), (token, other, flags) => {
        const bytes = bytesOf(codec.encode(token));
        const length = Math.ceil((token.audience?.length ?? 0) / 3) * 3;
        const [fields, macs] = [bytes.subarray(0, 34), bytes.subarray(34 + length)];
        const foreign = Buffer.from(other.padEnd(Math.ceil(other.length / 3) * 3));
        const own = bytes.subarray(34, 34 + length);
        for (const kindByte of [fields.readUInt8(21), fields.readUInt8(21) ^ 0x40, flags]) {
          const head = Buffer.from(fields);
          head.writeUInt8(kindByte, 21);
          for (const parts of [
            [],
            [own],
            [foreign],
            [own, foreign],
            [foreign, own],
            [own.subarray(3)],
            [own, own],
          ]) {
            const forged = `sat_${base64url(Buffer.concat([head, ...parts, macs]))}`;
            if (forged === codec.encode(token)) continue;
            expectNone(codec.decode(forged));
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is refused in another kind of token, or if it is not a list of identifiers', () => {
    fc.assert(
      fc.property(accessTokens, (token) => {
        for (const kind of ['code', 'refresh'] as const)
          expect(() => codec.encode({ ...token, jkt: null, kind })).toThrow(RangeError);
        for (const audience of ['', ' ', 'a  b', 'a ', ' a', 'a\nb', 'ü', 'x'.repeat(256)])
          expect(() => codec.encode({ ...token, audience })).toThrow(RangeError);
      }),
    );
  });

  it('does not change the length of other tokens', () => {
    fc.assert(
      fc.property(tokens, (token) => {
        const plain = codec.encode({ ...token, audience: null });
        expect(bytesOf(plain)).toHaveLength(token.jkt === null ? 63 : 96);
      }),
    );
  });
});

describe('tokens bound to a DPoP key (RFC 9449)', () => {
  // @rfc 9449 6
  it('are proved only by that key', () => {
    fc.assert(
      fc.property(boundTokens, thumbprint, (token, other) => {
        const text = codec.encode(token);
        expect(proved(text, token.jkt)).toEqual(token);
        for (const none of [other, null, undefined, '', `${token.jkt} `, 7 as unknown as string])
          expect(proved(text, none)).toBeNull();
      }),
    );
  });

  it('are encoded only with a valid thumbprint, and cannot be codes', () => {
    fc.assert(
      fc.property(boundTokens, (token) => {
        const [more, less] = [`${token.jkt}AA`, token.jkt.slice(1)];
        for (const jkt of ['', ' ', more, less, `${token.jkt}=`, `${token.jkt} `, '!'.repeat(43)])
          expect(() => codec.encode({ ...token, jkt })).toThrow(RangeError);
        // The last character has two spare bits.
        expect(() => codec.encode({ ...token, jkt: `${token.jkt.slice(0, 42)}B` })).toThrow(RangeError);
        expect(() => codec.encode({ ...token, audience: null, kind: 'code' })).toThrow(RangeError);
      }),
    );
  });

  it('have a MAC that covers the thumbprint, which cannot be replaced', () => {
    fc.assert(
      fc.property(boundTokens, thumbprint, (token, other) => {
        const bytes = bytesOf(codec.encode(token));
        const at = bytes.length - 62;
        expect(bytes.toString('base64url', at, at + 32)).toBe(token.jkt);
        Buffer.from(other, 'base64url').copy(bytes, at);
        const changed = codec.encode(token).slice(0, 4) + base64url(bytes);
        expect(codec.decode(changed)).toBeNull();
        expect(codec.decode(changed.slice(0, 4) + base64url(bytes.fill(0, at, at + 32)))).toBeNull();
      }),
    );
  });

  it('differ from bearer tokens, which need no proof and accept any proof', () => {
    fc.assert(
      fc.property(bearerTokens, thumbprint, (token, jkt) => {
        expect(proved(codec.encode(token), jkt)).toEqual(token);
        expect(proved(codec.encode(token))).toEqual(token);
      }),
    );
  });
});

/** Tokens that a thief has: bound to the victim's key, bound to the thief's own key, and bearer tokens. */
interface AttackerTokens {
  readonly bound: readonly string[];
  readonly bearer: readonly string[];
  readonly own: readonly string[];
  readonly ownJkt: string;
}

const attackers: fc.Arbitrary<AttackerTokens> = fc
  .record({ token: boundTokens, ownJkt: thumbprint, handle: bytes16 })
  .filter(({ token, ownJkt }) => token.jkt !== ownJkt)
  .map(({ token, ownJkt, handle }) => {
    const alike = (['access', 'refresh'] as const).flatMap((kind) => [
      { ...token, kind, audience: null },
      { ...token, kind, audience: null, scopeMask: token.scopeMask ^ 1 },
      { ...token, kind, audience: null, generation: (token.generation + 1) % 2 ** 32 },
      { ...token, kind, audience: kind === 'access' ? 'https://api.example.com' : null, handle },
    ]);
    const written = (jkt: string | null) => alike.map((token) => codec.encode({ ...token, jkt }));
    const code = codec.encode({ ...token, kind: 'code', audience: null, jkt: null });
    return { bound: written(token.jkt), bearer: [...written(null), code], own: written(ownJkt), ownJkt };
  });

/** Expects an invalid token, unless the text is an issued bearer token or a token of the thief. */
function expectInvalid(text: string, { bearer, own, ownJkt }: AttackerTokens): void {
  if (bearer.includes(text)) return;
  expectNone(proved(text));
  if (!own.includes(text)) expectNone(proved(text, ownJkt));
}

describe('a bound token without its key', () => {
  // Spans between field boundaries of bearer and bound tokens, and arbitrary spans.
  const spans = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom([0, 34], [34, 63], [34, 66], [66, 95], [66, 96], [34, 96]) },
    { weight: 1, arbitrary: fc.array(fc.nat({ max: 96 }), { minLength: 2, maxLength: 2 }) },
  );
  const sources = fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.nat({ max: 24 }) },
  );
  const piece = fc.tuple(sources, spans);
  const beginning = fc.oneof(fc.tuple(sources, fc.constant([0, 34])), piece);
  const edits = fc.array(
    fc.record({ at: fc.oneof(fc.constantFrom(0, 21), fc.nat({ max: 95 })), value: fc.nat({ max: 255 }) }),
    { maxLength: 2 },
  );

  it('cannot be spliced, repeated, truncated, extended or edited into a valid token', () => {
    fc.assert(
      fc.property(
        attackers,
        sources,
        beginning,
        fc.array(piece, { maxLength: 5 }),
        edits,
        // Length of a token, to which the pieces are truncated or repeated.
        fc.constantFrom(63, 96, null),
        (known, named, first, more, changes, length) => {
          const texts = [...known.bound, ...known.bearer, ...known.own];
          const spliced = Buffer.concat(
            [first, ...more].map(([from, span]) =>
              bytesOf(texts[from] ?? '').subarray(Math.min(...span), Math.max(...span)),
            ),
          );
          const bytes = length === null || spliced.length === 0 ? spliced : Buffer.alloc(length, spliced);
          for (const { at, value } of changes) if (at < bytes.length) bytes.writeUInt8(value, at);
          expectInvalid(`${texts[named]?.slice(0, 4)}${base64url(bytes)}`, known);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('is invalid if a byte is changed or a part is repeated, even if cut to the length of a bearer token', () => {
    fc.assert(
      fc.property(attackers, (known) => {
        const [text = ''] = known.bound;
        for (const forged of rearranged(text)) expectInvalid(forged, known);
        for (const length of [63, 96])
          for (let at = 0; at < length; at++)
            for (const change of [0x01, 0x40, 0x80, 0xc0, 0xff]) {
              const bytes = bytesOf(text).subarray(0, length);
              bytes.writeUInt8(bytes.readUInt8(at) ^ change, at);
              expectInvalid(text.slice(0, 4) + base64url(bytes), known);
            }
      }),
      { numRuns: 8 },
    );
  });

  it('is invalid with a MAC taken from any of its bytes, for any kind and flags', () => {
    fc.assert(
      fc.property(
        attackers,
        fc.constantFrom('sac_', 'sat_', 'srt_'),
        fc.nat({ max: 255 }),
        (known, prefix, kind) => {
          for (const text of [...known.bound.slice(0, 2), ...known.own.slice(0, 2)]) {
            const [head, macs] = [bytesOf(text).subarray(0, 34), bytesOf(text).subarray(34)];
            head.writeUInt8(kind, 21);
            for (let at = 0; at < macs.length; at++)
              for (const length of [29, 62]) {
                const mac = Buffer.alloc(length, Buffer.concat([macs.subarray(at), macs.subarray(0, at)]));
                expectInvalid(prefix + base64url(Buffer.concat([head, mac])), known);
              }
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('a key ring', () => {
  it('verifies with every key and signs with the first, so that a rotation does not log users out', () => {
    const before = new TokenCodec(new KeyRing([first]));
    const after = new TokenCodec(new KeyRing([second, first]));
    fc.assert(
      fc.property(tokens, (token) => {
        expect(after.decode(before.encode(token))).toEqual(token);
        expect(before.decode(after.encode(token))).toBeNull();
      }),
    );
  });

  it('refuses an empty list, a key that is too short, and a repeated key', () => {
    expect(() => new KeyRing([])).toThrow(RangeError);
    expect(() => new KeyRing([randomBytes(31)])).toThrow(RangeError);
    expect(() => new KeyRing([first, first])).toThrow(RangeError);
    expect(() => KeyRing.parse('c2hvcnQ')).toThrow(RangeError);
  });
});
