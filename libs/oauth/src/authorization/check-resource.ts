import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';

/**
 * RFC 8707 2: each value "MUST be an absolute URI […] MUST NOT include a fragment component", and the parameter may be
 * repeated. Access tokens have no audience yet, so `resource` does not restrict them. Unknown resources are refused, so
 * that no client relies on a restriction that does not exist.
 *
 * @param sent one value or a list of values, unvalidated
 * @param apis origins of the APIs that accept access tokens
 * @throws OAuthError invalid_target
 */
export function checkResource(sent: unknown, apis: readonly string[]): void {
  const values = (Array.isArray(sent) ? (sent as unknown[]) : [sent]).filter(
    (value) => value !== undefined && value !== '',
  );
  if (values.every((value) => isAddressOf(apis, value))) return;
  const known =
    apis.length > 0 ? `below one of: ${apis.join(' ')}` : 'but no API is configured: leave it out';
  throw new OAuthError(
    'invalid_target',
    400,
    `the parameter 'resource' must be an absolute URI without a fragment, ${known}`,
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
