import { parseObject } from '#local/demo/exchange.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { DESCRIPTIONS } from '#test/support/openapi/answer-checker.js';
import type { KnownLogins } from './known-logins.js';
import { type KnownSecrets, type SecretKind, traceIn } from './leaks.js';
import type { FuzzedApp } from './test-environment.js';
import { HEADER_NAME } from './values.js';
import { continuationOf } from '#local/demo/html-form.js';
import { type Answer, type Exchange, header, locationOf } from './wire.js';

/** A violated rule. Findings with equal `rule` and `where` are counted as one. */
export interface Finding {
  readonly rule: string;
  readonly where: string;
  readonly detail: string;
}

export interface SentRequest {
  readonly where: string;
  readonly app: FuzzedApp;
  readonly internal: boolean;
  readonly method: string;
  readonly target: string;
  /** True if the request's bytes were changed, so that any operation of the app may have responded. */
  readonly isRaw?: true;
  /** Submitted username, which the login form repeats. */
  readonly username?: string;
  /** Expected statuses of a valid request; absent if the request may be invalid. */
  readonly validStatuses?: readonly number[];
  readonly answers: { readonly min: 0 | 1; readonly max: number };
}

export interface OracleState {
  readonly secrets: Pick<KnownSecrets, 'in'>;
  readonly redirectUris: ReadonlyMap<string, readonly string[]>;
  readonly logins: Pick<KnownLogins, 'problem'>;
  readonly urls: { readonly authorize: string };
}

/** Post-logout redirect URI (section 3 of OpenID Connect RP-Initiated Logout 1.0). */
export const POST_LOGOUT_URI = 'https://app.example.com/left';

/** Accepted for valid requests, because a rate limit may reject them. */
const TOO_MANY_REQUESTS = 429;

const ERROR_CLASS =
  /\b(?:Type|Range|Reference|Syntax|Aggregate|QueryFailed|Reply|Nats|Http|Fastify)(?:Error|Exception)\b/;

export function checkExchange(sent: SentRequest, exchange: Exchange, known: OracleState): Finding[] {
  const { where, validStatuses, answers: expected } = sent;
  const { answers, rest, end, milliseconds } = exchange;
  const found: Finding[] = [];
  const add = (rule: string, detail: string) => found.push({ rule, where, detail });
  const seconds = (milliseconds / 1000).toFixed(1);
  if (end === 'timeout' && answers.length === 0) add('hangs', `no answer and no close in ${seconds} s`);
  else if (answers.length < expected.min) add('request is not answered', `${end} after ${seconds} s`);
  // A server that responded before the end of the body may send another error about the body.
  const counted = answers.filter((answer, n) => n < expected.max || !isConnectionError(answer));
  if (counted.length > expected.max)
    add('one request gets several answers', `${counted.length} answers, at most ${expected.max} allowed`);
  if (rest !== '' && (end === 'closed' || end === 'reset')) add('answer is not HTTP', rest.slice(0, 200));
  const [first] = answers;
  if (validStatuses && first && ![...validStatuses, TOO_MANY_REQUESTS].includes(first.status))
    add('valid request is refused', `${first.status} ${first.body.toString('utf8', 0, 300)}`);
  for (const answer of answers) found.push(...checkAnswer(sent, answer, known));
  return found;
}

function isConnectionError(answer: Answer): boolean {
  return [400, 408, 413, 431].includes(answer.status) && header(answer, 'connection') === 'close';
}

function checkAnswer(sent: SentRequest, answer: Answer, known: OracleState): Finding[] {
  const { where, app, internal } = sent;
  const { status, headers } = answer;
  const text = answer.body.toString('utf8');
  const head = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  const found: Finding[] = [];
  const add = (rule: string, detail: string) => found.push({ rule, where, detail });
  if (status >= 500 && status !== 503) add('server error', `${status} ${text.slice(0, 300)}`);
  const leak = traceIn(`${head}\n${text}`) ?? (status >= 400 ? ERROR_CLASS.exec(text)?.[0] : undefined);
  if (leak !== undefined) add('stack trace or path in an answer', leak);
  for (const kind of leakedSecrets(sent, answer, known))
    add(`${kind} in an answer`, `${status} ${head}\n${text}`);
  if (headers.some(([name]) => name === HEADER_NAME)) add('header injected by a request', head);
  const markup = /html/.test(header(answer, 'content-type') ?? '') ? /.{0,40}<fz.{0,40}/s.exec(text) : null;
  if (markup) add('unescaped markup', markup[0]);
  const location = locationOf(answer);
  if (location !== null || (status >= 300 && status < 400 && status !== 304)) {
    const problem = redirectProblem(sent, location ?? '', known);
    if (problem !== null) add(problem, location ?? '');
  }
  const idTokenProblem = isTokenAnswer(sent, status, text) ? known.logins.problem(parseObject(text)) : null;
  if (idTokenProblem !== null) add(idTokenProblem, text);
  const wrong = internal ? [] : [...formatProblems(sent, answer, text), ...apiProblems(sent, answer, text)];
  if (wrong.length > 0)
    found.push({
      rule: `a ${status} has the wrong format`,
      where: app,
      detail: `${where}: ${wrong.join('; ')}`,
    });
  return found;
}

/** Finds credentials in the response that were not in the request and do not belong in this type of response. */
function leakedSecrets(sent: SentRequest, answer: Answer, { secrets }: OracleState): Set<SecretKind> {
  const { status, body, headers } = answer;
  const sentSecrets = secrets.in(`${sent.target}\n${decoded(sent.target)}\n${sent.username ?? ''}`);
  const type = header(answer, 'content-type') ?? '';
  const found = new Set<SecretKind>();
  const search = (text: string, ...allowed: SecretKind[]): void => {
    for (const [piece, kind] of secrets.in(text))
      if (!sentSecrets.has(piece) && !allowed.includes(kind)) found.add(kind);
  };
  for (const [name, value] of headers) {
    if (name === 'set-cookie') search(value, 'cookie');
    else if (name === 'location') search(value, 'code', 'state');
    else search(value);
  }
  const whole = body.toString('latin1');
  const isDevice = sent.app === 'token' && status === 200;
  const text = isDevice ? whole.replaceAll(/"device_code":"[^"]*"/g, '') : whole;
  if (isTokenAnswer(sent, status, text)) search(text.replaceAll(/"(access|refresh|id)_token":"[^"]*"/g, ''));
  else if (status === 201) search(text, 'request URI');
  else if (status === 200 && text.includes('"device_code"')) search(text, 'device code');
  else if (continuationOf(text) !== null) search(text, 'code', 'state');
  else if (type.startsWith('text/html')) search(text, 'csrf token', 'state');
  else search(text);
  return found;
}

function isTokenAnswer({ app }: SentRequest, status: number, text: string): boolean {
  return status === 200 && app === 'token' && text.includes('"access_token"');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Allows registered redirect URIs, with any port for loopback URIs (RFC 9700 2.1), the post-logout URI, and the
 * product's own pages. @returns null if the redirect is allowed
 */
function redirectProblem(
  { app, target }: SentRequest,
  location: string,
  { redirectUris, urls }: OracleState,
): string | null {
  if (!/^[\x21-\x7E]+$/.test(location)) return 'redirect to an invalid URI';
  if (/^\/(?![/\\])/.test(location)) return null;
  // error_uri is a URL of the token app that redirects to a page of the authorize app.
  if (app === 'token' && location === urls.authorize + ENDPOINTS.errorGuide) return null;
  // The login page of the portal continues at the authorize app.
  if (app === 'developers' && location.startsWith(`${urls.authorize}/`)) return null;
  if (target.includes(ENDPOINTS.logout) && location.split('?', 1)[0] === POST_LOGOUT_URI) return null;
  const [client, another] = new URLSearchParams(target.slice(target.indexOf('?') + 1)).getAll('client_id');
  const isCertain = client !== undefined && another === undefined;
  const registered = isCertain ? (redirectUris.get(client) ?? []) : [...redirectUris.values()].flat();
  const withoutPort = location.replace(/^(http:\/\/127\.0\.0\.1):\d+/, '$1');
  const follows = registered.some((uri) =>
    [location, withoutPort].some((to) => to.startsWith(uri) && /^[?&]/.test(to.slice(uri.length))),
  );
  if (!follows) return 'redirect to an address that is not registered';
  // RFC 9207 2 requires `iss`.
  return /[?&]iss=/.test(location) ? null : 'redirect without iss';
}

const pathOf = (target: string): string =>
  target.replace(/^https?:\/\/[^/?#]*/, '').split(/[?#]/, 1)[0] ?? '';

function cacheControlsOf({ app, method, target, isRaw }: SentRequest, status: number): readonly string[] {
  if (app === 'developers') return ['no-store'];
  const description = DESCRIPTIONS[app];
  if (isRaw) return ['no-store', ...description.cacheControls];
  // The router decodes the path, removes a fragment, and ignores the authority of an absolute URI (RFC 9112 3.2.2).
  const path = decoded(pathOf(target));
  return [description.cacheControl({ method, path, status }) ?? 'no-store'];
}

const HTML = /^text\/html; charset=utf-8$/;
const ERROR_TYPES: Readonly<Record<FuzzedApp, RegExp>> = {
  authorize: HTML,
  token: /^application\/json; charset=utf-8$/,
  resource: /^application\/json; charset=utf-8$/,
  // Console and portal also send plain JSON, in response to bytes that are not HTTP.
  developers: /^(?:text\/html|application\/json); charset=utf-8$/,
  console: /^(?:text\/html|application\/(?:problem\+)?json); charset=utf-8$/,
};

function apiProblems({ app, isRaw, method, target }: SentRequest, answer: Answer, text: string): string[] {
  if (app !== 'console' || isRaw || isConnectionError(answer)) return [];
  const { status, headers } = answer;
  const path = pathOf(target);
  const type = header(answer, 'content-type') ?? '';
  const isDescribed = !path.endsWith('/');
  const exchange = { method, path, status, headers: Object.fromEntries(headers), body: text };
  const found = isDescribed ? DESCRIPTIONS.console.problems({ ...exchange, request: undefined }) : [];
  return path.startsWith(`${ENDPOINTS.admin}/`) && HTML.test(type) ? [...found, 'a page of the API'] : found;
}

function formatProblems(sent: SentRequest, answer: Answer, text: string): string[] {
  const { app, method } = sent;
  const { status } = answer;
  const isError = status >= 400;
  const type = ERROR_TYPES[app];
  const rules: readonly (readonly [applies: boolean, name: string, rule: RegExp])[] = [
    [true, 'x-content-type-options', /^nosniff$/],
    [app === 'authorize', 'content-security-policy', /frame-ancestors 'none'|sandbox/],
    [isError, 'content-type', type],
    [status === 503, 'retry-after', /^\d+$/],
    [status === 405, 'allow', /^[A-Z, ]+$/],
    [status === 401 && app === 'resource', 'www-authenticate', /^(?:Bearer|DPoP) /],
  ];
  const wrong = rules
    .filter(([applies, name, rule]) => applies && !rule.test(header(answer, name) ?? ''))
    .map(([, name]) => `${name}: ${header(answer, name)}`);
  const cacheControl = header(answer, 'cache-control') ?? '';
  if (!cacheControlsOf(sent, status).includes(cacheControl)) wrong.push(`cache-control: ${cacheControl}`);
  const hasErrorFormat =
    HTML.test(header(answer, 'content-type') ?? '') ||
    isOAuthError(text) ||
    (app === 'resource' && isApiError(text)) ||
    (app === 'console' && isProblem(text, status));
  if (isError && method !== 'HEAD' && !hasErrorFormat) wrong.push(`body: ${text.slice(0, 300)}`);
  return wrong;
}

/** Returns true for problem details (RFC 9457 3). */
function isProblem(text: string, status: number): boolean {
  const { type, title, status: inBody, id, detail, error_reference: reference } = parseObject(text);
  const texts = [type, title, id, detail, reference];
  return inBody === status && texts.every((value) => typeof value === 'string');
}

/** Returns true for an OAuth error (RFC 6749 5.2). */
function isOAuthError(text: string): boolean {
  const { error, error_description: description, ...rest } = parseObject(text);
  return (
    typeof error === 'string' &&
    /^[a-z_]+$/.test(error) &&
    typeof description === 'string' &&
    /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(description) &&
    Object.keys(rest).every((name) => name === 'error_reference' || name === 'error_uri')
  );
}

function isApiError(text: string): boolean {
  const { status, timestamp, path, error } = parseObject(text);
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  return status === 'error' && [timestamp, path, code, message].every((value) => typeof value === 'string');
}
