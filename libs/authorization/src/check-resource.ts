import { OAuthError } from '#service/oauth/oauth-error.js';
import { LIMITS } from './limits.js';

/**
 * RFC 8707 2: each value "MUST be an absolute URI […] MUST NOT include a fragment component", and may come more than once.
 * Access tokens name no audience: a resource changes nothing, and is refused where no token of ours would be taken, so
 * that nobody relies on what does not happen.
 *
 * @param sent one value or a list of them, as it came
 * @param apis origins of the APIs that take access tokens
 * @throws OAuthError invalid_target
 */
export function checkResource(sent: unknown, apis: readonly string[]): void {
  const values = (Array.isArray(sent) ? (sent as unknown[]) : [sent]).filter(
    (value) => value !== undefined && value !== '',
  );
  if (values.every((value) => isAddressOf(apis, value))) return;
  const known = apis.length > 0 ? `one of: ${apis.join(' ')}` : 'left out, as this service knows no API';
  throw new OAuthError(
    'invalid_target',
    400,
    `the parameter 'resource' must be the absolute URI of an API, without a fragment, ${known}`,
    {
      detail: { check: 'resource', resource: values.map((value) => String(value).slice(0, 200)).slice(0, 5) },
    },
  );
}

function isAddressOf(apis: readonly string[], value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LIMITS.redirect_uri) return false;
  if (!/^[!-~]+$/.test(value) || value.includes('#') || !URL.canParse(value)) return false;
  const { href } = new URL(value);
  return apis.some((origin) => href.startsWith(`${origin}/`));
}
