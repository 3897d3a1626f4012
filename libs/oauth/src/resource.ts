import { OAuthError } from './oauth-error.js';
import { LIMITS } from './parameters.js';

/** The longest list of APIs that a request may name, in characters: an access token carries it (docs/adr/0016). */
export const MAX_AUDIENCE = 255;

/**
 * The APIs that the `resource` parameter of an authorization or token request names. RFC 8707 2: each value "MUST be an
 * absolute URI […] MUST NOT include a fragment component", and the parameter may be repeated. A value names the API that it
 * is an address of.
 *
 * @param sent one value or a list of values, unvalidated
 * @param apis origins of the APIs that accept access tokens
 * @returns origins from `apis`, space-separated, each once and sorted, so that equal sets are equal texts; null if none is named
 * @throws OAuthError invalid_target
 */
export function checkResource(sent: unknown, apis: readonly string[]): string | null {
  if (sent === undefined) return null;
  const values = (Array.isArray(sent) ? (sent as unknown[]) : [sent]).filter((value) => value !== '');
  const named = values.map((value) => apis.find((api) => isAddressOf(api, value)));
  const detail = {
    check: 'resource',
    resource: values.map((value) => String(value).slice(0, 200)).slice(0, 5),
  };
  if (named.includes(undefined)) {
    const known =
      apis.length > 0 ? `below one of: ${apis.join(' ')}` : 'but no API is configured: leave it out';
    throw OAuthError.invalidTarget(
      `the parameter 'resource' must be an absolute URI without a fragment, ${known}`,
      { detail },
    );
  }
  const audience = [...new Set(named)].sort().join(' ');
  if (audience.length > MAX_AUDIENCE)
    throw OAuthError.invalidTarget(
      "the parameter 'resource' names more APIs than one token can be for: leave it out, or ask for fewer",
      { detail },
    );
  return audience === '' ? null : audience;
}

/**
 * Whether an API accepts a token with this audience. RFC 9700 2.3: "every resource server is obliged to verify, for every
 * request, whether the access token sent with that request was meant to be used for that particular resource server."
 *
 * @param audience identifiers of APIs; empty for a token that is valid at every API
 * @param api URL of the API; undefined if it does not know its own
 */
export function isInAudience(audience: readonly string[], api: string | undefined): boolean {
  if (audience.length === 0) return true;
  return api !== undefined && audience.some((one) => isAddressOf(one, api));
}

function isAddressOf(api: string, value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LIMITS.resource) return false;
  if (!/^[!-~]+$/.test(value) || value.includes('#') || !URL.canParse(value)) return false;
  const { href } = new URL(value);
  return href === api || href.startsWith(`${api}/`);
}
