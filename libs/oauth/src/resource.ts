import { isWithinApi, MAX_AUDIENCE } from './audience.js';
import { OAuthError } from './oauth-error.js';
import { LIMITS } from './parameters.js';

/**
 * RFC 8707 2: each value "MUST be an absolute URI […] MUST NOT include a fragment component", and the parameter may be
 * repeated. A value identifies the API whose URL contains it.
 * @returns unique origins from `apis`, space-separated and sorted, so that equal sets are equal texts; null without a
 * value
 * @throws OAuthError invalid_target
 */
export function checkResource(sent: unknown, apis: readonly string[]): string | null {
  if (sent === undefined) return null;
  const values = (Array.isArray(sent) ? (sent as unknown[]) : [sent]).filter((value) => value !== '');
  const named = values.map((value) =>
    isAbsoluteUri(value) ? apis.find((api) => isWithinApi(api, value)) : undefined,
  );
  const detail = { resource: values.map((value) => String(value).slice(0, 200)).slice(0, 5) };
  if (named.includes(undefined)) throw OAuthError.invalidTarget({ id: 'resource_unknown', apis }, { detail });
  const audience = [...new Set(named as string[])].toSorted().join(' ');
  if (audience.length > MAX_AUDIENCE) throw OAuthError.invalidTarget('resource_unknown.too_many', { detail });
  return audience === '' ? null : audience;
}

/** RFC 3986 4.3: an absolute URI has no fragment. */
function isAbsoluteUri(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= LIMITS.resource &&
    /^[!-~]+$/.test(value) &&
    !value.includes('#')
  );
}
