/**
 * The way through the login: the query of the authorization request goes along unchanged, and is all that says where
 * to go on. There is no parameter that holds an address, hence no open redirect.
 */
export function loginAddress(query: string): string {
  return withQuery('/auth/login', query);
}

/** Where a user goes after the login: on with the authorization request, or to the app's front page. */
export function afterLogin(query: string): string {
  const authorizing = new URLSearchParams(query).has('client_id');
  return authorizing ? withQuery('/auth/oauth2/authorize', query) : '/auth/';
}

export function logoutAddress(query: string): string {
  return withQuery('/auth/logout', query);
}

function withQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}
