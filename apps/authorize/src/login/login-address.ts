import { ENDPOINTS } from '#oauth/endpoints.js';

/**
 * The way through the login: the query of the authorization request goes along unchanged, and is all that says where
 * to go on. Beside it there is a closed list of places. No parameter holds an address, hence no open redirect.
 */
export function loginAddress(query: string): string {
  return withQuery(ENDPOINTS.login, query);
}

/** Pages of ours that a login may lead back to, by the value of `to`. */
const PLACES = { apps: ENDPOINTS.connectedApps } as const;

/** The login that leads back to one of our pages. */
export function loginAddressTo(place: keyof typeof PLACES): string {
  return loginAddress(`to=${place}`);
}

/** Where a user goes after the login: on with the authorization request, or to one of our own pages. */
export function afterLogin(query: string): string {
  const parameters = new URLSearchParams(query);
  if (parameters.has('client_id')) return authorizeAddress(query);
  const place = new Map<string | null, string>(Object.entries(PLACES)).get(parameters.get('to'));
  return place ?? ENDPOINTS.account;
}

/** The authorization request itself. */
export function authorizeAddress(query: string): string {
  return withQuery(ENDPOINTS.authorize, query);
}

export function logoutAddress(query: string): string {
  return withQuery(ENDPOINTS.logout, query);
}

function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}
