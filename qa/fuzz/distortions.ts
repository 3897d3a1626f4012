import fc from 'fast-check';
import { DEADLINE_MS } from './target.js';
import { weighted } from './values.js';
import type { Piece, Transmission } from './wire.js';

export type Distortion =
  | { readonly split: readonly number[]; readonly pause: number }
  | { readonly trickle: number; readonly every: number }
  | { readonly pipeline: number }
  | { readonly truncate: 'wait' | 'half-close' | 'reset'; readonly at: number }
  | { readonly edits: readonly Edit[] }
  | { readonly framing: string }
  | { readonly chunks: string }
  | {
      readonly flood: 'header lines' | 'one header' | 'request line' | 'no line end' | 'body' | 'chunks';
      readonly size: number;
    }
  | { readonly replacement: string };

interface Edit {
  readonly do: 'flip' | 'insert' | 'delete' | 'duplicate';
  readonly at: number;
  readonly byte: number;
}

/** A request to smuggle: it is processed if the server ends the first body earlier than a proxy does. */
const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Ambiguous framings (RFC 9112 6.1, 6.3). */
const FRAMINGS = [
  `Content-Length: ${5 + HIDDEN.length}\r\nTransfer-Encoding: chunked`,
  `Transfer-Encoding: chunked\r\nContent-Length: 5`,
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: xchunked\r\nContent-Length: 5',
  'Transfer-Encoding : chunked\r\nContent-Length: 5',
  'Transfer-Encoding:\x0Bchunked\r\nContent-Length: 5',
  'Transfer-Encoding: chunked\x00\r\nContent-Length: 5',
  'Transfer-Encoding:\r\n chunked\r\nContent-Length: 5',
  'Transfer-Encoding: identity, chunked\r\nContent-Length: 5',
  'Transfer-Encoding: "chunked"\r\nContent-Length: 5',
  'X: y\nTransfer-Encoding: chunked\r\nContent-Length: 5',
  'Content-Length: 5\r\nContent-Length: 47',
  'Content-Length: 5, 47',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length: 5\x0B',
  'Content-Length : 5',
  ' Content-Length: 5',
  'Content-Length: -5',
  'Content-Length: 18446744073709551621',
  'Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 5',
] as const;

/** Invalid chunks (RFC 9112 7.1). */
const CHUNKS = [
  'zz\r\nabc\r\n0\r\n\r\n',
  '-1\r\nabc\r\n0\r\n\r\n',
  'FFFFFFFFFFFFFFFFF\r\nabc',
  '5\r\nabc\r\n0\r\n\r\n',
  '3\r\nabcdef\r\n0\r\n\r\n',
  '3\nabc\n0\n\n',
  '3 \r\nabc\r\n0\r\n\r\n',
  `3;${'x'.repeat(20_000)}\r\nabc\r\n0\r\n\r\n`,
  '3;a="\r\n"\r\nabc\r\n0\r\n\r\n',
  '0x3\r\nabc\r\n0\r\n\r\n',
  '3\r\nabc\r\n0\r\nContent-Length: 3\r\nHost: evil.example\r\n\r\n',
  `0\r\n${'T: x\r\n'.repeat(3_000)}\r\n`,
  '3\r\nabc\r\n',
  '\r\n',
  '1\r\nZ\r\nQ',
] as const;

const REPLACEMENTS = [
  '',
  '\r\n',
  '\r\n'.repeat(2_000),
  '\0'.repeat(100),
  'GET /auth/login\r\n\r\n',
  'GET /auth/login HTTP/0.9\r\n\r\n',
  'GET /auth/login HTTP/1.0\r\n\r\n',
  'GET /v2/me HTTP/2.0\r\nHost: a\r\n\r\n',
  'GET /v2/me HTTP/1.1\r\n\r\n',
  'GET /v2/me HTTP/1.1\nHost: a\n\n',
  'GET  /v2/me  HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET\t/v2/me\tHTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /v2/me HTTP/1.1\r\n Host: a\r\n\r\n',
  'GET /v2/me HTTP/1.1\r\nHost\r\n\r\n',
  'GET /v2/me HTTP/1.1\r\n: a\r\nHost: a\r\n\r\n',
  'CONNECT localhost:443 HTTP/1.1\r\nHost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  '\x16\x03\x01\x02\0\x01\0\x01\xFC\x03\x03',
  'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'EHLO example.com\r\n',
  '*1\r\n$4\r\nPING\r\n',
] as const;

const position = fc.nat(3_000);
const edit: fc.Arbitrary<Edit> = fc.record({
  do: fc.constantFrom('flip', 'insert', 'delete', 'duplicate'),
  at: position,
  byte: fc.oneof(fc.constantFrom(0, 9, 10, 11, 13, 32, 58, 127, 128, 255), fc.nat(255)),
});

export const distortion: fc.Arbitrary<Distortion> = weighted(
  [
    4,
    fc.record({
      split: fc.array(position, { minLength: 1, maxLength: 8 }),
      pause: fc.constantFrom(0, 1, 20),
    }),
  ],
  [1, fc.record({ trickle: fc.constantFrom(1, 7), every: fc.constantFrom(5, 250, 900) })],
  [3, fc.record({ pipeline: fc.integer({ min: 2, max: 20 }) })],
  [
    4,
    fc.record({
      truncate: weighted([1, fc.constant('wait')], [6, fc.constantFrom('half-close', 'reset')]),
      at: position,
    }),
  ],
  [6, fc.record({ edits: fc.array(edit, { minLength: 1, maxLength: 5 }) })],
  [4, fc.record({ framing: fc.constantFrom(...FRAMINGS) })],
  [3, fc.record({ chunks: fc.constantFrom(...CHUNKS) })],
  [
    3,
    fc.record({
      flood: fc.constantFrom('header lines', 'one header', 'request line', 'no line end', 'body', 'chunks'),
      size: fc.constantFrom(1_000, 15_000, 17_000, 66_000, 400_000),
    }) as fc.Arbitrary<Distortion>,
  ],
  [3, fc.record({ replacement: fc.constantFrom(...REPLACEMENTS) })],
  [
    1,
    fc
      .uint8Array({ minLength: 1, maxLength: 200 })
      .map((bytes) => ({ replacement: Buffer.from(bytes).toString('latin1') })),
  ],
);

export interface Distorted {
  readonly transmission: Omit<Transmission, 'methods'>;
  /** Maximum number of responses. More responses mean that the server read part of a request as another request. */
  readonly requests?: number;
  readonly staysValid?: boolean;
}

const once = (bytes: Buffer): Distorted['transmission'] => ({
  pieces: [{ after: 0, bytes }],
  ending: 'wait',
});

export function distort(recipe: Distortion, bytes: Buffer): Distorted {
  if ('split' in recipe)
    return { transmission: { ...once(bytes), pieces: splitAt(bytes, recipe) }, staysValid: true };
  if ('trickle' in recipe) return { transmission: { ...once(bytes), pieces: trickle(bytes, recipe) } };
  if ('pipeline' in recipe)
    return {
      transmission: once(Buffer.concat(Array.from({ length: recipe.pipeline }, () => bytes))),
      requests: recipe.pipeline,
    };
  if ('truncate' in recipe)
    return {
      transmission: { ...once(bytes.subarray(0, recipe.at % (bytes.length + 1))), ending: recipe.truncate },
      requests: 1,
    };
  if ('edits' in recipe) return { transmission: once(recipe.edits.reduce(editBytes, bytes)) };
  if ('framing' in recipe)
    return {
      transmission: once(reframed(bytes, recipe.framing, `0\r\n\r\n${HIDDEN}`)),
      requests: isUnambiguous(recipe.framing) ? 2 : 1,
    };
  if ('chunks' in recipe)
    return { transmission: once(reframed(bytes, 'Transfer-Encoding: chunked', recipe.chunks)), requests: 1 };
  if ('flood' in recipe) return { transmission: once(flood(bytes, recipe)) };
  return { transmission: once(Buffer.from(recipe.replacement, 'latin1')) };
}

/** Returns true if the first five bytes are the body in any interpretation, so that a second request follows. */
function isUnambiguous(framing: string): boolean {
  return framing.startsWith('Upgrade');
}

function splitAt(
  bytes: Buffer,
  { split, pause }: Extract<Distortion, { split: readonly number[] }>,
): Piece[] {
  const places = [...new Set([0, ...split.map((place) => place % bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  );
  return places
    .slice(1)
    .map((end, n) => ({ after: n === 0 ? 0 : pause, bytes: bytes.subarray(places[n], end) }));
}

function trickle(bytes: Buffer, { trickle: size, every }: Extract<Distortion, { trickle: number }>): Piece[] {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => ({
    after: every,
    bytes: bytes.subarray(n * size, (n + 1) * size),
  }));
  return pieces.slice(0, Math.ceil(DEADLINE_MS / every));
}

function editBytes(bytes: Buffer, { do: how, at, byte }: Edit): Buffer {
  const place = bytes.length === 0 ? 0 : at % bytes.length;
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
  if (how === 'insert') return Buffer.concat([before, Buffer.from([byte]), after]);
  if (how === 'delete') return Buffer.concat([before, after.subarray(1 + (byte & 7))]);
  if (how === 'duplicate') return Buffer.concat([before, after.subarray(0, byte), after]);
  const flipped = Buffer.from(bytes);
  flipped[place] = (flipped[place] ?? 0) ^ (byte === 0 ? 1 : byte);
  return flipped;
}

function reframed(bytes: Buffer, framing: string, body: string): Buffer {
  const head = bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n'));
  const lines = head.split('\r\n').filter((line) => !/^(content-length|transfer-encoding):/i.test(line));
  return Buffer.from(`${lines.join('\r\n')}\r\n${framing}\r\n\r\n${body}`, 'latin1');
}

function flood(bytes: Buffer, { flood: kind, size }: Extract<Distortion, { flood: string }>): Buffer {
  const [line = '', ...rest] = bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n')).split('\r\n');
  const head = (...more: string[]) =>
    Buffer.from([line, ...rest, ...more].join('\r\n') + '\r\n\r\n', 'latin1');
  const x = 'x'.repeat(size);
  switch (kind) {
    case 'header lines':
      return head(...Array.from({ length: Math.ceil(size / 5) }, () => 'a: b'));
    case 'one header':
      return head(`a: ${x}`);
    case 'request line':
      return Buffer.from(`GET /${x} HTTP/1.1\r\nHost: a\r\n\r\n`);
    case 'no line end':
      return Buffer.from(x);
    case 'body':
      return reframed(bytes, `Content-Length: ${size}`, x);
    default:
      return reframed(
        bytes,
        'Transfer-Encoding: chunked',
        '1\r\nx\r\n'.repeat(Math.ceil(size / 6)) + '0\r\n\r\n',
      );
  }
}
