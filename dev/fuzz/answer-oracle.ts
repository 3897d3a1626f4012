import type { AppName } from '#testing/launch-app.js';
import { type KnownSecrets, type SecretKind, traceIn } from './leaks.js';
import { HEADER_NAME } from './values.js';
import { type Answer, type Exchange, header } from './wire.js';

/** A broken rule, and where: findings of the same two are one. */
export interface Finding {
  readonly rule: string;
  readonly where: string;
  readonly detail: string;
}

/** What was sent, as far as it decides what may come back. */
export interface Sent {
  /** Where a finding belongs: the endpoint, or what was done to it. */
  readonly where: string;
  readonly app: AppName;
  readonly internal: boolean;
  readonly method: string;
  readonly target: string;
  /** What the login form would show again. */
  readonly username?: string;
  /** Statuses of which one must come; absent where anything may be wrong with the request. */
  readonly good?: readonly number[];
  /** How many answers there may be; at least one where it is HTTP. */
  readonly answers: { readonly least: 0 | 1; readonly most: number };
}

export interface Known {
  readonly secrets: Pick<KnownSecrets, 'in'>;
  /** The redirect URIs of every client, by its id. */
  readonly redirectUris: ReadonlyMap<string, readonly string[]>;
}

/** A good request may be one too many: a limit is no defect. */
const TOO_MANY = 429;

const ERROR_CLASS =
  /\b(?:Type|Range|Reference|Syntax|Aggregate|QueryFailed|Reply|Nats|Http|Fastify)(?:Error|Exception)\b/;

/** Holds an exchange to every rule. */
export function judge(sent: Sent, exchange: Exchange, known: Known): Finding[] {
  const { where, good, answers: expected } = sent;
  const { answers, rest, end, milliseconds } = exchange;
  const found: Finding[] = [];
  const add = (rule: string, detail: string) => found.push({ rule, where, detail });
  const seconds = (milliseconds / 1000).toFixed(1);
  if (end === 'hung' && answers.length === 0) add('hangs', `neither answered nor closed in ${seconds} s`);
  else if (answers.length < expected.least) add('request is not answered', `${end} after ${seconds} s`);
  // After an answer that came before the body, what is wrong with the body may be told.
  const owed = answers.filter((answer, n) => n < expected.most || !isLastWord(answer));
  if (owed.length > expected.most)
    add('takes one request for several', `${owed.length} answers, and not ${expected.most} at most`);
  if (rest !== '' && (end === 'closed' || end === 'reset')) add('answer is no HTTP', rest.slice(0, 200));
  const [first] = answers;
  if (good && first && ![...good, TOO_MANY].includes(first.status))
    add('good request is refused', `${first.status} ${first.body.toString('utf8', 0, 300)}`);
  for (const answer of answers) found.push(...judgeAnswer(sent, answer, known));
  return found;
}

/** Whether an answer says that what came could not be read, and ends the connection. */
function isLastWord(answer: Answer): boolean {
  return [400, 408, 413, 431].includes(answer.status) && header(answer, 'connection') === 'close';
}

function judgeAnswer(sent: Sent, answer: Answer, known: Known): Finding[] {
  const { where, app, internal } = sent;
  const { status, headers } = answer;
  const text = answer.body.toString('utf8');
  const head = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  const found: Finding[] = [];
  const add = (rule: string, detail: string) => found.push({ rule, where, detail });
  if (status >= 500 && status !== 503) add('server error', `${status} ${text.slice(0, 300)}`);
  const leak = traceIn(`${head}\n${text}`) ?? (status >= 400 ? ERROR_CLASS.exec(text)?.[0] : undefined);
  if (leak !== undefined) add('stack trace or path in an answer', leak);
  for (const kind of misplaced(sent, answer, known))
    add(`${kind} in an answer`, `${status} ${head}\n${text}`);
  if (headers.some(([name]) => name === HEADER_NAME)) add('header made by a request', head);
  const markup = /html/.test(header(answer, 'content-type') ?? '') ? /.{0,40}<fz.{0,40}/s.exec(text) : null;
  if (markup) add('markup that is not escaped', markup[0]);
  if (status >= 300 && status < 400 && status !== 304) {
    const problem = redirectProblem(sent, header(answer, 'location') ?? '', known);
    if (problem !== null) add(problem, header(answer, 'location') ?? '');
  }
  const wrong = internal ? [] : shapeProblems(sent, answer, text);
  if (wrong.length > 0)
    found.push({
      rule: `a ${status} is not as it must be`,
      where: app,
      detail: `${where}: ${wrong.join('; ')}`,
    });
  return found;
}

/** Credentials that an answer holds, but for those it is there to give and those the request itself brought to be passed on. */
function misplaced(sent: Sent, answer: Answer, { secrets }: Known): Set<SecretKind> {
  const { status, body, headers } = answer;
  const brought = secrets.in(`${sent.target}\n${decoded(sent.target)}\n${sent.username ?? ''}`);
  const type = header(answer, 'content-type') ?? '';
  const found = new Set<SecretKind>();
  const search = (text: string, ...may: SecretKind[]): void => {
    for (const [piece, kind] of secrets.in(text))
      if (!brought.has(piece) && !may.includes(kind)) found.add(kind);
  };
  for (const [name, value] of headers) {
    if (name === 'set-cookie') search(value, 'cookie');
    else if (name === 'location') search(value, 'code', 'state');
    else search(value);
  }
  const text = body.toString('latin1');
  const isTokenAnswer = status === 200 && sent.app === 'token' && text.includes('"access_token"');
  if (isTokenAnswer) search(text.replaceAll(/"(access|refresh)_token":"[^"]*"/g, ''));
  else if (status === 201) search(text, 'request URI');
  else if (type.startsWith('text/html')) search(text, 'csrf token', 'state');
  else search(text);
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** To our own pages, or to an address of the client, character by character but for a loopback port (RFC 9700 2.1). */
function redirectProblem({ target }: Sent, location: string, { redirectUris }: Known): string | null {
  if (!/^[\x21-\x7E]+$/.test(location)) return 'redirect to what is no URI';
  if (/^\/(?![/\\])/.test(location)) return null;
  const [client, another] = new URLSearchParams(target.slice(target.indexOf('?') + 1)).getAll('client_id');
  const isCertain = client !== undefined && another === undefined;
  const registered = isCertain ? (redirectUris.get(client) ?? []) : [...redirectUris.values()].flat();
  const withoutPort = location.replace(/^(http:\/\/127\.0\.0\.1):\d+/, '$1');
  const follows = registered.some((uri) =>
    [location, withoutPort].some((to) => to.startsWith(uri) && /^[?&]/.test(to.slice(uri.length))),
  );
  if (!follows) return 'redirect to an address that is not registered';
  // RFC 9207 2
  return /[?&]iss=/.test(location) ? null : 'redirect without iss';
}

/** What is wrong with the headers that every answer of an app has, and with the shape of its errors. */
function shapeProblems({ app, method }: Sent, answer: Answer, text: string): string[] {
  const { status } = answer;
  const isError = status >= 400;
  const type = app === 'authorize' ? /^text\/html; charset=utf-8$/ : /^application\/json; charset=utf-8$/;
  const rules: readonly (readonly [applies: boolean, name: string, rule: RegExp])[] = [
    [true, 'cache-control', /^no-store$/],
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
  const isShaped = app === 'authorize' || isOAuthError(text) || (app === 'resource' && isApiError(text));
  if (isError && method !== 'HEAD' && !isShaped) wrong.push(`body: ${text.slice(0, 300)}`);
  return wrong;
}

/** RFC 6749 5.2. */
function isOAuthError(text: string): boolean {
  const { error, error_description: description, ...rest } = parse(text);
  return (
    typeof error === 'string' &&
    /^[a-z_]+$/.test(error) &&
    typeof description === 'string' &&
    /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(description) &&
    Object.keys(rest).every((name) => name === 'error_reference')
  );
}

function isApiError(text: string): boolean {
  const { status, timestamp, path, error } = parse(text);
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  return status === 'error' && [timestamp, path, code, message].every((value) => typeof value === 'string');
}

function parse(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}
