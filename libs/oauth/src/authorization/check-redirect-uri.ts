import type { Client } from '#database/client/client.js';
import { OAuthError } from '../oauth-error.js';
import { LIMITS } from './limits.js';
import type { RequestParameters } from './request-parameters.js';

/**
 * RFC 9700 2.1: "authorization servers MUST utilize exact string matching except for port numbers in localhost
 * redirection URIs of native apps". Normalising either side would open a gap between what was registered and where
 * the browser goes.
 */
export function checkRedirectUri(parameters: RequestParameters, client: Client): string {
  const detail = { check: 'redirect_uri', client_id: client.clientId, registered: client.redirectUris };
  const redirectUri = parameters.get('redirect_uri', LIMITS.redirect_uri);
  if (redirectUri === undefined)
    throw OAuthError.invalidRequest("the parameter 'redirect_uri' is missing", { detail });
  const matches = client.redirectUris.some(
    (registered) =>
      registered === redirectUri || (client.type === 'public' && differInPortOnly(registered, redirectUri)),
  );
  if (!matches)
    throw OAuthError.invalidRequest(
      'the redirect_uri must be one that is registered for this application, character by character',
      { detail: { ...detail, redirect_uri: redirectUri } },
    );
  return redirectUri;
}

const LOOPBACK =
  /^http:\/\/(?<host>127\.0\.0\.1|\[::1\]|localhost)(?::(?<port>[1-9]\d{0,4}))?(?<path>\/[^?]*)?(?<query>\?.*)?$/;

/**
 * RFC 8252 7.3: "The authorization server MUST allow any port to be specified at the time of the request". 8.3 recommends
 * against localhost, because each machine resolves it itself. Native applications use it anyway, so it is allowed if the
 * operator registered it. An empty path equals "/" (RFC 3986 6.2.3).
 */
function differInPortOnly(registered: string, requested: string): boolean {
  const ours = LOOPBACK.exec(registered)?.groups;
  const theirs = LOOPBACK.exec(requested)?.groups;
  if (!ours || !theirs || Number(theirs['port'] ?? 80) > 65_535) return false;
  const samePath = (ours['path'] ?? '/') === (theirs['path'] ?? '/');
  return ours['host'] === theirs['host'] && samePath && ours['query'] === theirs['query'];
}
