import { OAuthError } from '../oauth-error.js';

/** A value that is not a usable string: `state[a]=b`, or invalid percent-encoded UTF-8. */
type Unreadable = { readonly problem: string };

/** Far more than any client sends. Decoding thousands, especially invalid ones, blocks the event loop for 0.1 s. */
const MAX_PARAMETERS = 200;

const CONTROL = /\p{Cc}/u;
const SURROGATE = /\p{Cs}/u;

/**
 * The parameters of an authorization request, from a query or from a pushed body. Parsing never fails on a single
 * parameter: `get` reports its problem, because some errors go back to the client by redirect and some must not.
 */
export class RequestParameters {
  private readonly values = new Map<string, (string | Unreadable)[]>();

  /**
   * @param query raw query string, without the '?'
   * @throws OAuthError that is not redirected, when there are too many parameters
   */
  static fromQuery(query: string): RequestParameters {
    const parameters = new RequestParameters();
    const pairs = query.split('&', MAX_PARAMETERS + 1);
    if (pairs.length > MAX_PARAMETERS)
      throw OAuthError.invalidRequest(`there are more than ${MAX_PARAMETERS} parameters`, {
        detail: { check: 'parameters' },
      });
    for (const pair of pairs) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decode(equals < 0 ? pair : pair.slice(0, equals));
      if (typeof name !== 'string') continue; // an undecodable name is unknown, and unknown parameters are ignored
      const [plain = '', nested] = name.split('[', 2);
      parameters.add(plain, nested === undefined ? decode(equals < 0 ? '' : pair.slice(equals + 1)) : NESTED);
    }
    return parameters;
  }

  /** @param body parsed form or JSON object; a repeated parameter is an array */
  static fromBody(body: object): RequestParameters {
    const parameters = new RequestParameters();
    for (const [name, value] of Object.entries(body))
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value as unknown])
        parameters.add(name, typeof one !== 'string' ? NESTED : SURROGATE.test(one) ? UNENCODABLE : one);
    return parameters;
  }

  /** Every value of a parameter that may be repeated. Entries that are not strings are invalid values. */
  all(name: string): readonly unknown[] {
    return this.values.get(name) ?? [];
  }

  /**
   * The value of a parameter; undefined when there is none. RFC 6749 3.1: "Parameters sent without a value MUST be treated
   * as if they were omitted from the request. The authorization server MUST ignore unrecognized request parameters.
   * Request and response parameters MUST NOT be included more than once." Only parameters that are read are checked.
   *
   * @param max longest value in characters
   * @throws OAuthError invalid_request that names the parameter and never quotes its value
   */
  get(name: string, max: number): string | undefined {
    const [value = '', another] = this.values.get(name) ?? [];
    if (another !== undefined) throw invalid(name, 'is repeated');
    if (typeof value !== 'string') throw invalid(name, value.problem);
    if (value.length > max) throw invalid(name, `is longer than ${max} characters`, value.length);
    if (CONTROL.test(value)) throw invalid(name, 'holds a control character');
    return value === '' ? undefined : value;
  }

  private add(name: string, value: string | Unreadable): void {
    const values = this.values.get(name);
    if (values) values.push(value);
    else this.values.set(name, [value]);
  }
}

const NESTED: Unreadable = { problem: 'must be a single string, not an array or an object' };
// JSON can contain a lone surrogate (\ud800), which cannot be encoded in a redirect URL.
const UNENCODABLE: Unreadable = { problem: 'is not valid Unicode' };
const UNDECODABLE: Unreadable = { problem: 'is not valid percent-encoded UTF-8' };

function decode(text: string): string | Unreadable {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return UNDECODABLE;
  }
}

function invalid(name: string, problem: string, length?: number): OAuthError {
  return OAuthError.invalidRequest(`the parameter '${name}' ${problem}`, {
    detail: { check: 'parameters', parameter: name, ...(length !== undefined && { length }) },
  });
}
