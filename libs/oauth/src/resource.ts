/** Longest audience of an access token, in characters (docs/adr/0016-audience-of-tokens.md). */
export const MAX_AUDIENCE = 255;

/**
 * Returns true if a token is for an API (RFC 9700 2.3).
 * @param audience empty for a token that is valid for every API
 * @param api URL; undefined if it is not configured
 */
export function isInAudience(audience: readonly string[], api: string | undefined): boolean {
  if (audience.length === 0) return true;
  return api !== undefined && audience.some((resource) => isWithinApi(resource, api));
}

export function isWithinApi(api: string, url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { href } = new URL(url);
  return href === api || href.startsWith(`${api}/`);
}
