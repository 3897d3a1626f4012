import { AUTHORIZATION_PARAMETERS } from '#oauth/authorization-parameters.js';
import { displayedUserCode, normalizeUserCode } from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** Returns the query without '?'. Encodes '#', because Node accepts it, but it starts a fragment in a redirect. */
export function rawQuery(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1).replaceAll('#', '%23');
}

export function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** Appends to the text, because URL classes would rewrite the URI. Keeps an existing query (RFC 6749 3.1.2). */
export function addQuery(uri: string, query: string): string {
  if (!uri.includes('?')) return `${uri}?${query}`;
  return uri + (/[?&]$/.test(uri) ? '' : '&') + query;
}

const MAX_POSTED_QUERY = 8_000;

/** Query for a redirect. Browsers send SameSite=Lax cookies with a cross-site GET, but not with a cross-site POST. */
export function postedQuery(fields: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((item): [string, string] => [name, String(item)]),
  );
  const query = new URLSearchParams(pairs).toString();
  if (query.length <= MAX_POSTED_QUERY) return query;
  throw OAuthError.invalidRequest(
    { id: 'parameter_invalid.query_too_long', max: MAX_POSTED_QUERY },
    { detail: { length: query.length } },
  );
}

const RETURN_PAGES = { apps: ENDPOINTS.connectedApps, device: ENDPOINTS.device } as const;

export function loginReturningTo(page: keyof typeof RETURN_PAGES, userCode: string | null = null): string {
  return withQuery(ENDPOINTS.login, userCode === null ? `to=${page}` : deviceQuery(userCode));
}

/** Query of the login, consent and log-out forms for a device (RFC 8628). */
export function deviceQuery(userCode: string): string {
  return `to=device&user_code=${displayedUserCode(userCode)}`;
}

function userCodeOf(parameters: URLSearchParams): string | null {
  return parameters.get('to') === 'device' ? normalizeUserCode(parameters.get('user_code')) : null;
}

/** Path to continue with after a login. Never reads a URL from a parameter, which prevents open redirects. */
export function afterLogin(query: string): string {
  const parameters = new URLSearchParams(query);
  if (parameters.has('client_id')) return withQuery(ENDPOINTS.authorize, query);
  const userCode = userCodeOf(parameters);
  if (userCode !== null) return withQuery(ENDPOINTS.device, `user_code=${displayedUserCode(userCode)}`);
  const page = new Map<string | null, string>(Object.entries(RETURN_PAGES)).get(parameters.get('to'));
  return page ?? ENDPOINTS.account;
}

/** Parameter with the optional scopes that the user cleared on a consent page before a login. */
const CLEARED_SCOPES = 'cleared_scopes';

/** The parameter can only clear boxes, because a link of an application may contain it as well. */
export function withClearedScopes(query: string, scopes: readonly string[]): string {
  const pairs = query.split('&').filter((pair) => !pair.startsWith(`${CLEARED_SCOPES}=`));
  const cleared = new URLSearchParams({ [CLEARED_SCOPES]: scopes.join(' ') }).toString();
  return [...pairs, ...(scopes.length === 0 ? [] : [cleared])].join('&');
}

export function clearedScopes(query: string): string[] {
  return (new URLSearchParams(query).get(CLEARED_SCOPES) ?? '').split(' ');
}

/** Drops unknown parameters, because the result is stored before a user has logged in. */
export function resumableQuery(query: string, request: { readonly pushedId: string | null } | null): string {
  const parameters = new URLSearchParams(query);
  if (request === null) {
    const userCode = userCodeOf(parameters);
    if (userCode !== null) return deviceQuery(userCode);
    const page = parameters.get('to') ?? '';
    return Object.hasOwn(RETURN_PAGES, page) ? `to=${page}` : '';
  }
  // The parameters of a pushed request replace all others in the URL (RFC 9101 6.3).
  const known =
    request.pushedId === null ? Object.keys(AUTHORIZATION_PARAMETERS) : ['client_id', 'request_uri'];
  const kept = [...parameters].filter(
    ([name, value]) => value !== '' && [...known, CLEARED_SCOPES].includes(name),
  );
  return new URLSearchParams(kept).toString();
}

export function revokeUrl(clientId: string): string {
  return withQuery(ENDPOINTS.revokeApp, new URLSearchParams({ client_id: clientId }).toString());
}

export function appsUrl(page: number): string {
  return withQuery(ENDPOINTS.connectedApps, `page=${page}`);
}
