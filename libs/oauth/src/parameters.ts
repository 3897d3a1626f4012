import { getMetadataStorage, ValidateBy } from 'class-validator';
import { OAuthError } from './oauth-error.js';
import type { ParameterProblem, Reason } from './reasons.js';

/** A repeated parameter is an array. Any other value that is not a string is invalid (`scope[a]=b`, `{"code":{}}`). */
export type Parameters = Record<string, unknown>;

/** Maximum length of each parameter, in characters. A token has 88 to 472 characters. */
export const LIMITS = {
  client_id: 255,
  client_secret: 255,
  client_assertion_type: 100,
  // An assertion with a 4096-bit RSA signature has about 1300 characters.
  client_assertion: 4_096,
  redirect_uri: 2_000,
  scope: 1_000,
  // authorization request
  request_uri: 2_000,
  resource: 2_000,
  response_type: 100,
  response_mode: 100,
  state: 1_024,
  code_challenge: 128,
  code_challenge_method: 100,
  dpop_jkt: 128,
  prompt: 100,
  login_hint: 254,
  max_age: 10,
  ui_locales: 200,
  nonce: 512,
  claims: 2_048,
  // An ID token with every claim of a user has up to 6,000 characters.
  id_token_hint: 8_192,
  request: 8_192,
  // end-session request
  post_logout_redirect_uri: 2_000,
  // token endpoints
  grant_type: 64,
  token: 512,
  // RFC 7009 2.2, 7662 2.2: an invalid token is not an error, so only the limit of the body applies (64 KiB).
  any_token: 65_536,
  token_type_hint: 64,
  code_verifier: 128,
} as const;

type DtoClass = new () => object;

/** Name of a previously declared parameter, and the values that meet the condition. */
type Condition = readonly [parameter: string, ...values: string[]];

interface ParameterRules {
  readonly max: number;
  /** True to accept characters other than printable ASCII. */
  readonly anyCharacter?: boolean;
  readonly required?: boolean;
  /** Condition on the request. If the request does not meet the condition, the parameter is ignored. */
  readonly when?: Condition;
  readonly description: string;
  readonly values?: readonly string[];
}

/** Description of a parameter for the OpenAPI document. */
export interface DeclaredParameter extends Partial<Omit<ParameterRules, 'description'>> {
  readonly name: string;
  readonly description: string;
  readonly repeatable?: boolean;
}

/** RFC 6749 appendix A: parameters are printable ASCII (VSCHAR, or a URI). */
const PRINTABLE = /^[\x20-\x7e]+$/;

type Problem = ParameterProblem['problem'];

/** Declares a single bounded string of printable ASCII. */
export function Parameter(rules: ParameterRules): PropertyDecorator {
  const { max, required = true, anyCharacter = false, when } = rules;
  const problemOf = (value: unknown): Problem | null => {
    if (value === undefined) return required ? 'missing' : null;
    // RFC 6749 3.2: "Request and response parameters MUST NOT be included more than once."
    if (typeof value !== 'string') return 'not_single';
    if (value.length > max) return { max };
    return anyCharacter || PRINTABLE.test(value) ? null : 'not_printable_ascii';
  };
  return ValidateBy(
    {
      name: 'parameter',
      constraints: [{ problemOf, condition: when } satisfies CheckedParameter],
      validator: { validate: (value) => problemOf(value) === null },
    },
    { context: rules },
  );
}

/** Declares a parameter that may be repeated. The endpoint checks its values. */
export function RepeatableParameter({ description }: { readonly description: string }): PropertyDecorator {
  return ValidateBy(
    {
      name: 'repeatable parameter',
      constraints: [{ problemOf: () => null } satisfies CheckedParameter],
      validator: { validate: () => true },
    },
    { context: { description, repeatable: true, required: false } },
  );
}

/** Returns the declared parameters of a DTO, inherited ones last. */
export function parametersOf(dto: DtoClass): DeclaredParameter[] {
  return getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', true, false)
    .map(({ propertyName: name, context }) => ({ ...(context as Omit<DeclaredParameter, 'name'>), name }));
}

/** Ignores undeclared parameters (RFC 6749 3.2). @throws OAuthError invalid_request that names every problem */
export function readDto(type: DtoClass, parameters: Parameters | undefined): object {
  // Does not run the constructor, because a DTO only declares its parameters.
  const dto = Object.create(type.prototype as object) as Record<string, unknown>;
  const problems: ParameterProblem[] = [];
  for (const { parameter, condition, problemOf } of rulesOf(type)) {
    if (condition && !condition.includes(dto[condition[0]] as string, 1)) continue;
    const value = parameters?.[parameter];
    dto[parameter] = value;
    const problem = problemOf(value);
    if (problem !== null) problems.push({ parameter, problem });
  }
  if (problems.length > 0) throw OAuthError.invalidRequest({ id: 'parameter_invalid', problems });
  return dto;
}

interface CheckedParameter {
  readonly problemOf: (value: unknown) => Problem | null;
  readonly condition?: Condition | undefined;
}

interface PropertyRule extends CheckedParameter {
  readonly parameter: string;
}

const compiled = new WeakMap<object, readonly PropertyRule[]>();

/**
 * Caches class-validator's metadata: `validateSync` costs 4 % of a code exchange
 * (docs/adr/0025-rules-of-parameters.md).
 */
function rulesOf(dto: DtoClass): readonly PropertyRule[] {
  let rules = compiled.get(dto);
  if (!rules) {
    rules = getMetadataStorage()
      .getTargetValidationMetadatas(dto, '', true, false)
      .map(({ propertyName: parameter, constraints: [checked] }) => ({
        parameter,
        ...(checked as CheckedParameter),
      }));
    compiled.set(dto, rules);
  }
  return rules;
}

/** Exceeds the number that any client sends. Decoding thousands of invalid parameters takes 0.1 s. */
const MAX_QUERY_PARAMETERS = 200;

const UNDECODABLE: unique symbol = Symbol('undecodable');

const CONTROL = /\p{Cc}/u;
const SURROGATE = /\p{Cs}/u;

/**
 * Parses a form for an endpoint that also accepts JSON. Omits parameters without a value (RFC 6749 3.2).
 * @throws OAuthError invalid_request for undecodable text, or JSON
 */
export function parseForm(text: string): Parameters {
  return decodeForm(text, 'body_malformed.json_as_form');
}

/** Like `parseForm`, for an endpoint that accepts only forms. */
export function parseOnlyForm(text: string): Parameters {
  return decodeForm(text, 'body_malformed.json_at_form_endpoint');
}

/** @param json reason to reject JSON */
function decodeForm(text: string, json: Extract<Reason, `body_malformed.json_${string}`>): Parameters {
  if (/^\s*\{/.test(text) && isJson(text)) throw OAuthError.invalidRequest(json);
  // Some clients append a line break; line breaks in values are percent-encoded.
  return decodePairs(text.replace(/\r?\n$/, '').split('&'), (encoded) => {
    const decoded = decode(encoded);
    if (decoded !== UNDECODABLE) return decoded;
    throw OAuthError.invalidRequest('body_malformed.undecodable');
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Like `parseForm`, but keeps undecodable values until `readParameter` rejects them, because some errors are redirected
 * to the client.
 * @param query without the '?'
 * @throws OAuthError invalid_request for too many parameters
 */
export function parseQuery(query: string): Parameters {
  const pairs = query.split('&', MAX_QUERY_PARAMETERS + 1);
  if (pairs.length > MAX_QUERY_PARAMETERS)
    throw OAuthError.invalidRequest({ id: 'parameter_invalid.too_many', max: MAX_QUERY_PARAMETERS });
  return decodePairs(pairs, decode);
}

/**
 * Rejects duplicate names. A parameter with several values is an array of strings; null and the empty string count as
 * absent.
 */
export function parseJson(text: string): Parameters {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw OAuthError.invalidRequest('body_malformed.not_json');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw OAuthError.invalidRequest('body_malformed.not_object');
  if (hasRepeatedNames(text, body)) throw OAuthError.invalidRequest('body_malformed.repeated_name');
  const parameters = noParameters();
  for (const [name, value] of Object.entries(body) as [string, unknown][])
    if (value !== null && value !== '') parameters[name] = value;
  return parameters;
}

/**
 * Returns a parameter, or undefined if it is absent or empty (RFC 6749 3.1). Allows text outside ASCII, which clients
 * send in `state`.
 * @throws OAuthError that names the parameter, never its value
 */
export function readParameter(parameters: Parameters, name: keyof typeof LIMITS): string | undefined {
  const sent = parameters[name];
  const values = Array.isArray(sent) ? (sent as unknown[]) : [sent];
  const [value = ''] = values;
  if (values.length > 1) throw invalid(name, 'repeated');
  if (value === UNDECODABLE) throw invalid(name, 'undecodable');
  if (typeof value !== 'string') throw invalid(name, 'not_text');
  if (value.length > LIMITS[name]) throw invalid(name, { max: LIMITS[name] }, value.length);
  // A lone surrogate in JSON (\ud800) cannot be encoded in a redirect URI.
  if (SURROGATE.test(value)) throw invalid(name, 'not_unicode');
  if (CONTROL.test(value)) throw invalid(name, 'control_character');
  return value === '' ? undefined : value;
}

function invalid(parameter: string, problem: Problem, length?: number): OAuthError {
  return OAuthError.invalidRequest(
    { id: 'parameter_invalid', problems: [{ parameter, problem }] },
    { detail: { parameter, ...(length !== undefined && { length }) } },
  );
}

function decodePairs(
  pairs: readonly string[],
  decodeText: (encoded: string) => string | typeof UNDECODABLE,
): Parameters {
  const parameters = noParameters();
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodeText(pair.slice(equals + 1));
    // A name that cannot be decoded is an unknown parameter, which is ignored (RFC 6749 3.1).
    if (name === UNDECODABLE) continue;
    const bracket = name.indexOf('[');
    if (bracket < 0) add(parameters, name, value);
    else add(parameters, name.slice(0, bracket), {});
  }
  for (const name in parameters) if (parameters[name] === '') delete parameters[name];
  return parameters;
}

function add(parameters: Parameters, name: string, value: unknown): void {
  const before = parameters[name];
  if (before === undefined) parameters[name] = value;
  else if (Array.isArray(before)) before.push(value);
  else parameters[name] = [before, value];
}

/** Returns an object without a prototype, so that no name matches a member of Object. */
function noParameters(): Parameters {
  return Object.create(null) as Parameters;
}

function decode(text: string): string | typeof UNDECODABLE {
  try {
    const encoded = text.replaceAll('+', ' ');
    return encoded.includes('%') ? decodeURIComponent(encoded) : encoded;
  } catch {
    return UNDECODABLE;
  }
}

/** Compares the string counts of both, because JSON.parse keeps only the last of several equal names. */
export function hasRepeatedNames(text: string, parsed: object): boolean {
  return (text.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0) !== countStrings(parsed);
}

/** Iterates instead of recursing, because 64 KiB of brackets would overflow the stack. */
function countStrings(body: object): number {
  let count = 0;
  const pending: unknown[] = [body];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') count += 1;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) count += Object.keys(value).length;
    for (const inner of Object.values(value)) pending.push(inner);
  }
  return count;
}
