import { OAuthError } from '../oauth/oauth-error.js';

/** Request parameters by name. A value that is not a string stands for one that cannot be (`scope[a]=b`, `{"code":{}}`). */
export type Parameters = Record<string, unknown>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads `application/x-www-form-urlencoded` text (a body or a query string). Parameters without a value count as
 * absent, and none may be repeated (RFC 6749 3.1, 3.2).
 */
export function parseForm(text: string): Parameters {
  const parameters: Parameters = Object.create(null) as Parameters;
  const seen = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    const [plain = '', nested] = name.split('[', 2);
    if (seen.has(plain)) throw OAuthError.invalidRequest(`the parameter '${printable(plain)}' is repeated`);
    seen.add(plain);
    if (nested !== undefined) parameters[plain] = {};
    else if (value !== '') parameters[plain] = value;
  }
  return parameters;
}

/** Reads a JSON body: one object, no name twice. Nulls and empty strings count as absent. */
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
    // What is nested is wrong at any depth: nobody needs to go down there.
    .map(([name, value]) => [name, typeof value === 'object' ? {} : (value as unknown)] as const);
  return Object.assign(Object.create(null) as Parameters, Object.fromEntries(present));
}

/** The text of a body. @throws OAuthError for bytes that are not UTF-8. */
export function parseText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw OAuthError.invalidRequest('the body is not valid UTF-8');
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw OAuthError.invalidRequest('the parameters are not valid percent-encoded UTF-8');
  }
}

/** Of names and values. Without recursion: 64 KiB of brackets nest deeper than the stack is. */
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

/** A parameter's name as it may stand in an error_description (RFC 6749 5.2), shortened. */
function printable(name: string): string {
  return name.replaceAll(/[^\w.-]/g, '?').slice(0, 40);
}
