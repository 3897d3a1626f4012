import fc from 'fast-check';
import type { Verbatim } from './draft.js';

/** Markup that appears unchanged only if output is not escaped. */
export const MARKUP = `"'><fz onfz=1>`;
export const HEADER_NAME = 'x-fz';

/** Short notation of a value, which keeps findings readable. */
export type UnexpectedValue =
  | { readonly text: string }
  | { readonly raw: string }
  | { readonly json: unknown }
  | { readonly repeat: string; readonly times: number }
  | { readonly nest: string; readonly depth: number };

export function valueOf(value: UnexpectedValue): unknown {
  if ('text' in value) return value.text;
  if ('raw' in value) return { raw: value.raw } satisfies Verbatim;
  if ('json' in value) return value.json;
  if ('repeat' in value) return value.repeat.repeat(value.times);
  const close = value.nest === '[' ? ']' : '}';
  return { raw: `${value.nest.repeat(value.depth)}1${close.repeat(value.depth)}` } satisfies Verbatim;
}

export function textOf(value: UnexpectedValue): string {
  const field = valueOf(value);
  if (typeof field === 'string') return field;
  return typeof field === 'object' && field !== null && 'raw' in field
    ? String(field.raw)
    : JSON.stringify(field);
}

const LENGTHS = [
  1, 63, 64, 128, 129, 200, 254, 255, 256, 257, 512, 513, 1000, 1001, 1024, 1025, 2000, 2001, 8192,
];
const HUGE = [16_000, 16_384, 65_000, 65_536, 70_000, 200_000];

const list = (text: string): string[] => text.split('¦');

const TEXTS = [
  ...list(
    `¦ ¦\0¦a\0b¦\n¦\t\v\f¦\r\n${HEADER_NAME}: 1¦a\r\n\r\n${MARKUP}¦${MARKUP}¦<script>¦\${7*7}¦{{7*7}}¦%s%n`,
  ),
  ...list(`' OR 1=1--¦"; DROP TABLE users;--¦\\¦$1¦*)(uid=*¦|id¦\`id\`¦../../..¦..\\..`),
  // Bidi controls, invisible characters, combining marks, lone surrogates, noncharacters, and letters whose
  // length changes with their case
  ...list(
    `\u202Egnp.exe¦\u2066x¦\u200B\u200D¦\uFEFF¦${'e\u0301'.repeat(40)}¦\uD800¦\uDFFFx\uD800¦\uFFFF¦İ¦ﬃ¦𝒳`,
  ),
  ...list(
    'undefined¦null¦true¦NaN¦Infinity¦-0¦1e309¦0x10¦-1¦2147483648¦9007199254740993¦99999999999999999999',
  ),
  ...list('2024-02-30T25:61:00Z¦0000-00-00¦+275760-09-13T00:00:00.001Z¦1970-01-01'),
  ...list('__proto__¦constructor¦toString¦hasOwnProperty¦then¦[object Object]¦[]¦{}¦a[b]¦a=b&c=d'),
  ...list('javascript:alert(1)¦//evil.example¦https://evil.example/callback¦/\\evil.example'),
  ...list('https://app.example.com/callback?tenant=7#x¦https://app.example.com@evil.example/'),
  ...list('http://127.0.0.1:99999/callback¦http://127.0.0.1:4711/callback'),
];

/** Invalid percent-encoding, overlong and surrogate UTF-8, unencoded bytes and separators, and invalid JSON. */
const RAWS = [
  ...list(
    '%¦%zz¦%C0%AF¦%ED%A0%80¦%F5%80%80%80¦%E2%82¦%00¦%0d%0ax-fz:%201¦%25%30%30¦+¦&&&¦==¦a;b¦?x=%¦\x80\xFF¦\xC3\xA9',
  ),
  ...list('"¦\\u0000¦1e999¦tru¦{¦[1,¦"\\ud800"¦"\\x"¦01¦-¦"a" "b"¦/**/1'),
];

const NAMES = [
  ...list('__proto__¦constructor¦prototype¦toString¦__proto__[polluted]¦constructor[prototype][a]¦length'),
  ...list(
    'client_id¦client_id[]¦client_secret¦scope[a]¦state¦redirect_uri¦redirect_uri ¦REDIRECT_URI¦code¦token',
  ),
  ...list(
    'request¦request_uri¦response_mode¦response_type¦resource¦nonce¦claims¦prompt¦dpop_jkt¦required_scopes',
  ),
  ...list('csrf_token¦decision¦allow:profile:read¦to¦page¦notice¦locale¦username¦password'),
  ...list(`¦ ¦[¦]¦%¦\0¦é¦${MARKUP}¦\uD800¦.¦..`),
];

/** Chooses one of the arbitraries, by their weights. */
export function weighted<const Choices extends readonly (readonly [weight: number, fc.Arbitrary<unknown>])[]>(
  ...choices: Choices
) {
  type Value = Choices[number][1] extends fc.Arbitrary<infer T> ? T : never;
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary }))) as fc.Arbitrary<Value>;
}

export const unexpectedValue: fc.Arbitrary<UnexpectedValue> = weighted(
  [5, fc.constantFrom(...TEXTS).map((text) => ({ text }))],
  [3, fc.constantFrom(...RAWS).map((raw) => ({ raw }))],
  [1, fc.string({ unit: 'binary', maxLength: 40 }).map((text) => ({ text }))],
  [1, fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => ({ text }))],
  [1, fc.oneof(fc.double(), fc.integer(), fc.boolean(), fc.constant(null)).map((json) => ({ json }))],
  [1, fc.date({ noInvalidDate: true }).map((date) => ({ text: date.toISOString() }))],
  [2, fc.object({ withNullPrototype: false, maxDepth: 2 }).map((json) => ({ json: plain(json) }))],
  [
    3,
    fc.record({ repeat: fc.constantFrom('x', 'é', '%', '\0', '𝒳', ' '), times: fc.constantFrom(...LENGTHS) }),
  ],
  [1, fc.record({ repeat: fc.constantFrom('x', '€'), times: fc.constantFrom(...HUGE) })],
  [1, fc.record({ nest: fc.constantFrom('[', '{"a":'), depth: fc.constantFrom(2, 100, 5_000, 20_000) })],
);

export const unexpectedName: fc.Arbitrary<string> = weighted(
  [8, fc.constantFrom(...NAMES)],
  [1, fc.string({ unit: 'binary', maxLength: 12 })],
);

function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner)),
  );
}

/** Headers that the product, a framework or a proxy reads, with values separated by bars. */
const TABLE = `
Content-Type: | text/plain | application/json | application/x-www-form-urlencoded | APPLICATION/JSON | / | ; | x
Content-Type: application/json;charset=utf-16 | application/x-www-form-urlencoded; charset=iso-8859-1 | application/json; charset="
Content-Type: application/json, text/html | multipart/form-data; boundary=x | multipart/form-data | application/problem+json
Content-Type: application/json; charset=utf-8; charset=utf-7 | application/json\t;x
Content-Encoding: gzip | deflate | br | identity | x | gzip, gzip |
Authorization: | Basic | Basic = | Basic Og== | Basic %%% | Basic Zm9v | Basic AAAAOgAA | Basic Zm9vOmJhcg==, Bearer x
Authorization: Bearer | Bearer a b | Bearer \xFF | bearer x | DPoP | DPoP x | Digest username="a" | Negotiate
Cookie: | ; | = | oauth_service_session | oauth_service_session= | oauth_service_session="x" | oauth_service_session=x; oauth_service_session=y | oauth_service_session=${'A'.repeat(43)} | a=\xFF
Cookie: oauth_service_device=.... | oauth_service_device=${'x.'.repeat(150)} | oauth_service_language=xx | __proto__=1 | a=${'b'.repeat(9_000)}
Origin: null | | https://evil.example | http://localhost | x | \xFF
Sec-Fetch-Site: same-origin | cross-site | none | | x
Host: | evil.example | localhost | localhost:0 | a b | [::1] | \xFF | localhost:99999 | ${'x'.repeat(300)} | a/${MARKUP}
X-Forwarded-For: | , | x | 1.2.3.4, 5.6.7.8 | ::1 | ::ffff:1.2.3.4 | 1.2.3.4:80 | [2001:db8::1]:80 | 256.0.0.1 | '" | unknown
X-Forwarded-For: ${'1.1.1.1,'.repeat(500)}
X-Forwarded-Proto: https | x | https,http |
X-Forwarded-Host: evil.example | | a, b | ${MARKUP}
X-Forwarded-Port: x | 99999
Forwarded: for=1.2.3.4;proto=https;host=evil.example | for="
Accept: */* | text/html | application/json;q=0 | x |
Accept-Language: | * | de | ar;q=1 | x-klingon | de;q=x | zh-Hant-TW-u-ca-chinese | en_US | \xFF | __proto__ | ${'en-'.repeat(300)}
Accept-Encoding: gzip | br;q=1 | identity;q=0 | x
Range: bytes=0-0 | bytes=-1 | x
If-None-Match: * | "x"
If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT | x
Expect: 100-continue | x
Upgrade: websocket | h2c
Connection: close | keep-alive | upgrade | x | keep-alive, close | Host
Keep-Alive: timeout=999999 | x
TE: trailers | x
Trailer: Content-Length | Host
Content-Length: 0 | 00 | 1 | 70000 | -1 | +1 | 1e3 | 0x10 | x | | 1, 1 | 99999999999999999999
Transfer-Encoding: chunked | identity | gzip | gzip, chunked | chunked, chunked | x |
Content-MD5: x
DPoP: | x | a.b.c | e30.e30. | ${'a'.repeat(8_200)} | \xFF
traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 | 00-0-0-0 | x | ${'ff-'.repeat(90)}
tracestate: a=b | ${'x'.repeat(600)}
baggage: a=b | %
User-Agent: | ${MARKUP} | ${'x'.repeat(3_000)}
Referer: https://evil.example/ | % |
Access-Control-Request-Method: POST | x
Access-Control-Request-Headers: authorization | ${'x,'.repeat(900)}
X-HTTP-Method-Override: DELETE
X-Original-URL: /auth/apps
Max-Forwards: 0
${HEADER_NAME}: 1
__proto__: x
constructor: x
bad name: x
n\xE9: x
: x
`;

export const HEADER_VALUES: ReadonlyMap<string, readonly string[]> = TABLE.trim()
  .split('\n')
  .reduce((headers, line) => {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const values = line.slice(colon + 1).split('|');
    return headers.set(name, [...(headers.get(name) ?? []), ...values.map((value) => value.trim())]);
  }, new Map<string, readonly string[]>());
