import { AUTHORIZATION_PARAMETERS } from '#oauth/authorization-request.js';
import { ENDPOINTS } from '#oauth/endpoints.js';

/**
 * The raw query of a request, without the '?'. Node's parser refuses control characters, spaces and bytes beyond ASCII, but
 * accepts '#'. It is encoded, because in a Location header or a page it would start a fragment.
 */
export function rawQuery(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1).replaceAll('#', '%23');
}

export function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** Pages that the login may lead back to, by the value of the parameter `to`. */
const RETURN_PAGES = { apps: ENDPOINTS.connectedApps } as const;

/** The login that leads back to one of our pages. */
export function loginReturningTo(page: keyof typeof RETURN_PAGES): string {
  return withQuery(ENDPOINTS.login, `to=${page}`);
}

/**
 * Where a user goes after the login: to the authorization request whose query the login carried, or to one of our pages.
 * No parameter holds an address, so there is no open redirect.
 */
export function afterLogin(query: string): string {
  const parameters = new URLSearchParams(query);
  if (parameters.has('client_id')) return withQuery(ENDPOINTS.authorize, query);
  const page = new Map<string | null, string>(Object.entries(RETURN_PAGES)).get(parameters.get('to'));
  return page ?? ENDPOINTS.account;
}

/**
 * The part of a query that is needed after the login: the parameters of a valid authorization request, or the page to return to.
 * It is stored before anybody has logged in, so nothing else may be in it.
 *
 * @param request null if the query contains no valid authorization request
 */
export function continuedQuery(query: string, request: { readonly pushedId: string | null } | null): string {
  const parameters = new URLSearchParams(query);
  if (request === null) {
    const page = parameters.get('to') ?? '';
    return Object.hasOwn(RETURN_PAGES, page) ? `to=${page}` : '';
  }
  // RFC 9126 4: the other parameters of a pushed request are ignored.
  const known =
    request.pushedId === null ? Object.keys(AUTHORIZATION_PARAMETERS) : ['client_id', 'request_uri'];
  const kept = [...parameters].filter(([name, value]) => value !== '' && known.includes(name));
  return new URLSearchParams(kept).toString();
}

/** Asks to revoke one application. Its form posts to the same address, so that a way back leads to the question. */
export function revokeAddress(clientId: string): string {
  return withQuery(ENDPOINTS.revokeApp, new URLSearchParams({ client_id: clientId }).toString());
}

/** @param page from 1 */
export function appsAddress(page: number): string {
  return withQuery(ENDPOINTS.connectedApps, `page=${page}`);
}
