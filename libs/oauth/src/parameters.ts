import { OAuthError } from './oauth-error.js';

/**
 * Request parameters by name. A repeated parameter is an array of its values. Any other value that is not a string stands
 * for an invalid one (`scope[a]=b`, `{"code":{}}`).
 */
export type Parameters = Record<string, unknown>;

/**
 * Parses `application/x-www-form-urlencoded` text (a body or a query string). A parameter without a value counts as absent
 * (RFC 6749 3.1, 3.2). Repeated parameters are kept: the reader of a parameter decides whether it may be repeated
 * (RFC 8707 2).
 */
export function parseForm(text: string): Parameters {
  const values = new Map<string, unknown[]>();
  // Some clients append a line break to the body. Line breaks in values are always percent-encoded.
  for (const pair of text.replace(/\r?\n$/, '').split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    const [plain = '', nested] = name.split('[', 2);
    const added = nested === undefined ? value : {};
    const before = values.get(plain);
    if (before) before.push(added);
    else values.set(plain, [added]);
  }
  const parameters: Parameters = Object.create(null) as Parameters;
  for (const [name, [first, ...more]] of values)
    if (more.length > 0) parameters[name] = [first, ...more];
    else if (first !== '') parameters[name] = first;
  return parameters;
}

/**
 * Parses a JSON body: one object without duplicate names. A repeated parameter is a list of strings. Null and the empty
 * string count as absent.
 */
export function parseJson(text: string): Parameters {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw OAuthError.invalidRequest('the body is not valid JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw OAuthError.invalidRequest('the body must be a JSON object');
  // JSON.parse keeps the last of two equal names; the text then has more strings than its value.
  if ((text.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0) !== countStrings(body))
    throw OAuthError.invalidRequest('a parameter is repeated');
  const present = Object.entries(body)
    .filter(([, value]) => value !== null && value !== '')
    // Any other nested value is invalid, whatever it contains.
    .map(([name, value]) => [name, typeof value === 'object' && !isList(value) ? {} : value] as const);
  return Object.assign(Object.create(null) as Parameters, Object.fromEntries(present));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw OAuthError.invalidRequest('the parameters are not valid percent-encoded UTF-8');
  }
}

const isList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Counts names and values. Iterative, because 64 KiB of brackets would overflow the stack. */
function countStrings(body: object): number {
  let count = 0;
  const left: unknown[] = [body];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') count += 1;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) count += Object.keys(value).length;
    for (const inner of Object.values(value)) left.push(inner);
  }
  return count;
}
