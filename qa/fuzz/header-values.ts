import { HEADER_NAME, MARKUP } from './values.js';

/** Headers that the product, a framework or a proxy reads, with unexpected values: one line each, values separated by bars. */
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

/** Values by the name of the header. */
export const HEADER_VALUES: ReadonlyMap<string, readonly string[]> = TABLE.trim()
  .split('\n')
  .reduce((headers, line) => {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const values = line.slice(colon + 1).split('|');
    return headers.set(name, [...(headers.get(name) ?? []), ...values.map((value) => value.trim())]);
  }, new Map<string, readonly string[]>());
