import { OAuthError } from '#service/oauth/oauth-error.js';

/** A value that is no string: `state[a]=b`, or bytes that are not percent-encoded UTF-8. */
type Unreadable = { readonly problem: string };

/** Far more than any client sends. To decode thousands, above all those that cannot be, would take 0.1 s of the process. */
const MOST_PARAMETERS = 200;

const CONTROL = /\p{Cc}/u;
const SURROGATE = /\p{Cs}/u;

/**
 * The parameters of an authorization request, from a query or from a pushed body. Reading does not judge: what is
 * wrong with a parameter comes out when it is asked for, since some problems may be told to the client by a redirect
 * and some may not.
 */
export class RequestParameters {
  readonly #values = new Map<string, (string | Unreadable)[]>();

  /**
   * @param query as it came in a URL, without the '?'
   * @throws OAuthError that is not redirected, for more parameters than can be read
   */
  static fromQuery(query: string): RequestParameters {
    const parameters = new RequestParameters();
    const pairs = query.split('&', MOST_PARAMETERS + 1);
    if (pairs.length > MOST_PARAMETERS)
      throw OAuthError.invalidRequest(`there are more than ${MOST_PARAMETERS} parameters`, {
        detail: { check: 'parameters' },
      });
    for (const pair of pairs) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decode(equals < 0 ? pair : pair.slice(0, equals));
      if (typeof name !== 'string') continue; // no name of ours, and unknown parameters are ignored
      const [plain = '', nested] = name.split('[', 2);
      parameters.#add(
        plain,
        nested === undefined ? decode(equals < 0 ? '' : pair.slice(equals + 1)) : NESTED,
      );
    }
    return parameters;
  }

  /** @param body a form or JSON object as the service reads bodies: what came more than once is an array */
  static fromBody(body: object): RequestParameters {
    const parameters = new RequestParameters();
    for (const [name, value] of Object.entries(body))
      for (const one of Array.isArray(value) ? (value as unknown[]) : [value as unknown])
        parameters.#add(name, typeof one !== 'string' ? NESTED : SURROGATE.test(one) ? UNENCODABLE : one);
    return parameters;
  }

  /** The values of a parameter that may come more than once; what is no string cannot be a value of any. */
  all(name: string): readonly unknown[] {
    return this.#values.get(name) ?? [];
  }

  /**
   * The value of a parameter; undefined when there is none. "Parameters sent without a value MUST be treated as if
   * they were omitted from the request. The authorization server MUST ignore unrecognized request parameters. Request and
   * response parameters MUST NOT be included more than once" (RFC 6749 3.1): that holds for those that are asked for.
   *
   * @param max longest value in characters
   * @throws OAuthError invalid_request that names the parameter and never quotes its value
   */
  get(name: string, max: number): string | undefined {
    const [value = '', another] = this.#values.get(name) ?? [];
    if (another !== undefined) throw invalid(name, 'is repeated');
    if (typeof value !== 'string') throw invalid(name, value.problem);
    if (value.length > max) throw invalid(name, `is longer than ${max} characters`, value.length);
    if (CONTROL.test(value)) throw invalid(name, 'holds a control character');
    return value === '' ? undefined : value;
  }

  #add(name: string, value: string | Unreadable): void {
    const values = this.#values.get(name);
    if (values) values.push(value);
    else this.#values.set(name, [value]);
  }
}

const NESTED: Unreadable = { problem: 'must be a single string, not an array or an object' };
// JSON can escape half of a character, which no URL can give back.
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
