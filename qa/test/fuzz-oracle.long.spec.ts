import { InvalidArgumentError, TimeoutError } from '@nats-io/transport-node';
import { sessionIdFor } from '#oauth/openid/id-token.js';
import { SIGNING_KEYS } from '#test/support/keys.js';
import { checkExchange, POST_LOGOUT_URI, type SentRequest } from '../fuzz/answer-oracle.js';
import { KnownLogins } from '../fuzz/known-logins.js';
import { KnownSecrets } from '../fuzz/leaks.js';
import { forgetVerifier } from '../fuzz/mutations.js';
import { outcomeOfFailure } from '../fuzz/nats-target.js';
import { checkLogLine, checkMemory } from '../fuzz/process-oracle.js';
import { mayBeBusy } from '../fuzz/request.js';
import { type Exchange, readAnswers } from '../fuzz/wire.js';

const TOKEN = 'sat_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5';
const COOKIE = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA';

const secrets = new KnownSecrets();
secrets.add('access token', TOKEN);
secrets.add('cookie', COOKIE);
const logins = new KnownLogins();
logins.add('session', { clientId: 'app', userId: 7, nonce: 'n' });
const ID_TOKEN = { sub: '7', aud: 'app', nonce: 'n', sid: sessionIdFor('app', 'session') };
const withIdToken = async (claims: object, scope = 'openid') =>
  http(
    200,
    JSON_HEAD,
    JSON.stringify({
      access_token: TOKEN,
      scope,
      id_token: await SIGNING_KEYS.sign({ ...ID_TOKEN, ...claims }, 'RS256'),
    }),
  );

const known = {
  secrets,
  redirectUris: new Map([['app', ['https://app.example.com/callback?tenant=7']]]),
  logins,
  urls: { authorize: 'https://auth.example.com' },
};

const SENT: SentRequest = {
  where: 'POST /token',
  app: 'token',
  internal: false,
  method: 'POST',
  target: '/token',
  answers: { min: 1, max: 1 },
};
const DESCRIPTION: SentRequest = { ...SENT, method: 'GET', target: '/api/auth/oauth/openapi.json' };
const BRAND: SentRequest = { ...SENT, app: 'authorize', method: 'GET', target: '/auth/brand/logo-1.svg' };
const PAGE: SentRequest = {
  ...SENT,
  where: 'GET /auth',
  app: 'authorize',
  method: 'GET',
  target: '/auth?client_id=app',
};

const OURS = 'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n';
const JSON_HEAD = `${OURS}Content-Type: application/json; charset=utf-8\r\n`;
const HTML_HEAD = `${OURS}Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: frame-ancestors 'none'\r\n`;
const PUBLIC_HEAD = JSON_HEAD.replace('no-store', 'public, max-age=300');
const IMAGE_HEAD = HTML_HEAD.replace('no-store', 'public, max-age=31536000, immutable');
const API: SentRequest = { ...SENT, app: 'console', method: 'GET', target: '/admin/v1/clients?limit=1' };
const PROBLEM_HEAD = JSON_HEAD.replace('json', 'problem+json');
const PROBLEM = JSON.stringify({
  type: 'about:blank',
  title: 'Not Found',
  status: 404,
  id: 'not_found',
  detail: 'There is no such resource.',
  error_reference: 'dhdpfs_iGBYa',
});
const ERROR = '{"error":"invalid_request","error_description":"it is wrong"}';

const http = (status: number, head: string, body = '') =>
  `HTTP/1.1 ${status} X\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

function rulesBroken(sent: SentRequest, bytes: string, end: Exchange['end'] = 'done'): string[] {
  const read = readAnswers(Buffer.from(bytes), [sent.method], false);
  return checkExchange(sent, { ...read, end, milliseconds: 1 }, known).map(({ rule }) => rule);
}

it.each<[string, SentRequest, string]>([
  ['the error of an endpoint', SENT, http(400, JSON_HEAD, ERROR)],
  ['a problem of the HTTP API', API, http(404, PROBLEM_HEAD, PROBLEM)],
  ['a page of the console', { ...API, target: '/clients' }, http(404, HTML_HEAD)],
  ['a deliberate 503', SENT, http(503, `${JSON_HEAD}Retry-After: 1\r\n`, ERROR)],
  ['tokens for the client that requested them', SENT, http(200, JSON_HEAD, `{"access_token":"${TOKEN}"}`)],
  ['a cacheable description', DESCRIPTION, http(200, PUBLIC_HEAD, '{}')],
  [
    'a cacheable description at another spelling of its path',
    { ...DESCRIPTION, target: '/api/auth/oauth/openapi%2Ejson/?a=b#c' },
    http(200, PUBLIC_HEAD, '{}'),
  ],
  [
    'a cacheable description at its path in absolute form',
    { ...DESCRIPTION, target: 'https://evil.example/api/auth/oauth/openapi.json' },
    http(200, PUBLIC_HEAD, '{}'),
  ],
  [
    'a cacheable description without its body',
    { ...DESCRIPTION, method: 'HEAD' },
    'HTTP/1.1 200 X\r\n' + PUBLIC_HEAD + '\r\n',
  ],
  ['a 304 for a description that the caller has cached', DESCRIPTION, http(304, PUBLIC_HEAD)],
  [
    'a cacheable answer to a request whose bytes were changed',
    { ...SENT, isRaw: true },
    http(200, PUBLIC_HEAD, '{}'),
  ],
  ['an image whose address changes with its content', BRAND, http(200, IMAGE_HEAD, 'x')],
  ['a page', PAGE, http(200, HTML_HEAD, '<p>&lt;fz&gt;</p>')],
  ['a cookie in its header', PAGE, http(200, `${HTML_HEAD}Set-Cookie: session=${COOKIE}\r\n`)],
  ['a redirect to a page', PAGE, http(303, `${HTML_HEAD}Location: /auth/\r\n`)],
  [
    'a redirect of the token app to the error guide',
    SENT,
    http(302, `${JSON_HEAD}Location: https://auth.example.com/auth/errors\r\n`),
  ],
  [
    'a redirect to the client',
    PAGE,
    http(303, `${HTML_HEAD}Location: https://app.example.com/callback?tenant=7&error=x&iss=y\r\n`),
  ],
])('the fuzzer accepts %s', (_what, sent, bytes) => {
  expect(rulesBroken(sent, bytes)).toEqual([]);
});

it('the fuzzer accepts an ID token of a known login with and without a nonce', async () => {
  for (const claims of [{}, { nonce: undefined }])
    expect(rulesBroken(SENT, await withIdToken(claims))).toEqual([]);
});

it.each<[string, object, string]>([
  ['another user', { sub: '8' }, 'openid'],
  ['another application', { aud: 'other' }, 'openid'],
  ['another nonce', { nonce: 'm' }, 'openid'],
  ['an unknown session', { sid: 'x' }, 'openid'],
  ['a grant without openid', {}, 'profile:read'],
])('the fuzzer reports an ID token of %s', async (_what, claims, scope) => {
  expect(rulesBroken(SENT, await withIdToken(claims, scope))).toHaveLength(1);
});

it('the fuzzer reports a missing or forged ID token', async () => {
  const missing = `{"access_token":"${TOKEN}","scope":"openid"}`;
  expect(rulesBroken(SENT, http(200, JSON_HEAD, missing))).toEqual(['the ID token is missing']);
  const forged = (await withIdToken({})).replace(/\.[\w-]+"}$/, `.${'A'.repeat(342)}"}`);
  expect(rulesBroken(SENT, forged)).toEqual(['no published key verifies the ID token']);
});

it('the fuzzer accepts a redirect without iss only from the log-out endpoint to the post-logout URI', () => {
  const bytes = http(303, `${HTML_HEAD}Location: ${POST_LOGOUT_URI}?state=x\r\n`);
  expect(rulesBroken({ ...PAGE, target: '/auth/logout?client_id=app' }, bytes)).toEqual([]);
  expect(rulesBroken(PAGE, bytes)).toEqual(['redirect to an address that is not registered']);
});

const STACK = 'TypeError: x\\n    at Thing.run (/srv/dist/apps/token/src/thing.js:1:2)';

it.each<[string, SentRequest, string, string[]]>([
  [
    'an answer of the HTTP API that its description lacks',
    API,
    http(200, JSON_HEAD, '{"items":[],"next":1}'),
    ['a 200 has the wrong format'],
  ],
  ['a problem of another status', API, http(400, PROBLEM_HEAD, PROBLEM), ['a 400 has the wrong format']],
  ['a page of the HTTP API', API, http(404, HTML_HEAD), ['a 404 has the wrong format']],
  ['a 500', SENT, http(500, JSON_HEAD, ERROR), ['server error']],
  ['a 503 without Retry-After', SENT, http(503, JSON_HEAD, ERROR), ['a 503 has the wrong format']],
  [
    'an error without no-store',
    SENT,
    http(400, JSON_HEAD.replace('no-store', 'public'), ERROR),
    ['a 400 has the wrong format'],
  ],
  [
    'a cacheable answer of the token endpoint',
    SENT,
    http(200, PUBLIC_HEAD, '{}'),
    ['a 200 has the wrong format'],
  ],
  [
    'a cacheable error of an endpoint with cacheable answers',
    DESCRIPTION,
    http(400, PUBLIC_HEAD, ERROR),
    ['a 400 has the wrong format'],
  ],
  [
    'a cacheable answer at an unknown path',
    { ...DESCRIPTION, target: '/x/openapi.json' },
    http(200, PUBLIC_HEAD, '{}'),
    ['a 200 has the wrong format'],
  ],
  [
    'a description that may be cached for longer than it says',
    DESCRIPTION,
    http(200, PUBLIC_HEAD.replace('300', '301'), '{}'),
    ['a 200 has the wrong format'],
  ],
  [
    'an error of another shape',
    SENT,
    http(400, JSON_HEAD, '{"message":"x"}'),
    ['a 400 has the wrong format'],
  ],
  [
    'a stack trace',
    SENT,
    http(400, JSON_HEAD, ERROR.replace('it is wrong', STACK)),
    ['stack trace or path in an answer', 'a 400 has the wrong format'],
  ],
  [
    'the name of an error class',
    SENT,
    http(400, JSON_HEAD, ERROR.replace('it is wrong', 'QueryFailedError')),
    ['stack trace or path in an answer'],
  ],
  [
    'a credential',
    SENT,
    http(400, JSON_HEAD, ERROR.replace('it is wrong', TOKEN)),
    ['access token in an answer'],
  ],
  [
    'half a credential',
    SENT,
    http(400, JSON_HEAD, ERROR.replace('it is wrong', TOKEN.slice(30, 70))),
    ['access token in an answer'],
  ],
  ['a cookie in a page', PAGE, http(200, HTML_HEAD, COOKIE), ['cookie in an answer']],
  ['markup of the request', PAGE, http(200, HTML_HEAD, `<a href=""'><fz>`), ['unescaped markup']],
  [
    'a header of the request',
    SENT,
    http(400, `${JSON_HEAD}x-fz: 1\r\n`, ERROR),
    ['header injected by a request'],
  ],
  [
    'a redirect to an unregistered host',
    PAGE,
    http(303, `${HTML_HEAD}Location: https://app.example.com.evil.example/callback?tenant=7&iss=y\r\n`),
    ['redirect to an address that is not registered'],
  ],
  [
    'a redirect of the token app to another page',
    SENT,
    http(302, `${JSON_HEAD}Location: https://auth.example.com/auth/errors.evil\r\n`),
    ['redirect to an address that is not registered'],
  ],
  [
    'a redirect to another host by a path',
    PAGE,
    http(303, `${HTML_HEAD}Location: //evil.example/\r\n`),
    ['redirect to an address that is not registered'],
  ],
  [
    'a second answer',
    SENT,
    http(400, JSON_HEAD, ERROR) + http(400, JSON_HEAD, ERROR),
    ['one request gets several answers'],
  ],
  ['a request without an answer', SENT, '', ['request is not answered']],
  [
    'a valid request that is refused',
    { ...SENT, validStatuses: [200] },
    http(400, JSON_HEAD, ERROR),
    ['valid request is refused'],
  ],
])('the fuzzer reports %s', (_what, sent, bytes, rules) => {
  expect(rulesBroken(sent, bytes)).toEqual(rules);
});

it('the fuzzer reports a hanging connection', () => {
  expect(rulesBroken(SENT, 'HTTP/1.1 200 X\r\n', 'timeout')).toEqual(['hangs']);
});

it.each([
  ['a 503', 503, 1, true],
  ['a 408 after the request timeout', 408, 10_000, true],
  ['a 408 before the request timeout', 408, 9_999, false],
  ['a 400', 400, 10_000, false],
])(
  'the fuzzer retries a valid request only if the server is busy: %s',
  (_what, status, milliseconds, isRetried) => {
    const read = readAnswers(Buffer.from(http(status, JSON_HEAD, ERROR)), ['POST'], false);
    expect(mayBeBusy({ ...read, end: 'closed', milliseconds })).toBe(isRetried);
  },
);

it('the fuzzer accepts a code verifier in the log if a separator was changed', () => {
  const verifier = 'dgjWHP8430fekzwzFOC9yyRXy2z1IlILcLqhKIWNXAU';
  const sentSecrets = new KnownSecrets();
  sentSecrets.add('code verifier', verifier);
  sentSecrets.add('cookie', COOKIE);
  const fields = [
    { name: 'code_verifier', value: verifier },
    { name: 'csrf_token', value: COOKIE },
  ];
  const body = { format: 'form' as const, fields, changes: [], chunked: false };
  forgetVerifier({ body }, sentSecrets);
  expect(new Set(sentSecrets.in(`${verifier} ${COOKIE}`).values())).toEqual(new Set(['cookie']));
});

it('the fuzzer distinguishes a message that is too large from a missing response', () => {
  expect(outcomeOfFailure(new InvalidArgumentError('max_payload size exceeded'))).toBe('too large');
  expect(outcomeOfFailure(new TimeoutError())).toBe('unanswered');
});

it.each([
  [
    'a stack trace in a log line',
    `{"level":50,"err":{"stack":"${STACK}"}}`,
    ['stack trace or path in a log line, Thing.run'],
  ],
  ['a credential in a log line', `{"level":30,"path":"/x/${TOKEN}"}`, ['access token in a log line']],
  [
    'a warning of the runtime in the log',
    '(node:7) MaxListenersExceededWarning',
    ['line that is not a log entry'],
  ],
  ['nothing for an ordinary log line', '{"level":30,"msg":"answered"}', []],
  [
    'nothing for the stack of a failed dependency',
    `{"level":50,"res":{"statusCode":503},"stack":"${STACK}"}`,
    [],
  ],
])('the fuzzer reports %s', (_what, line, rules) => {
  expect(checkLogLine('token', line, secrets).map(({ rule }) => rule)).toEqual(rules);
});

it('the fuzzer reports memory that is not released', () => {
  const memory = { rss: 100 * 2 ** 20, live: 40 * 2 ** 20 };
  const before = { authorize: memory, token: memory, resource: memory, console: memory, developers: memory };
  const leaked = { ...memory, live: memory.live + 300 * 900_000 };
  expect(checkMemory(before, before)).toEqual([]);
  expect(checkMemory(before, { ...before, token: leaked })).toEqual([
    expect.objectContaining({ rule: 'memory is not released', where: 'token' }),
  ]);
});
