/**
 * Adds a prefix to the name of a cookie. `__Host-` keeps other hosts of the domain from setting it (RFC 6265bis 4.1.3.2), but
 * requires https. In development the application is also on `localhost`, and cookies are not isolated by port (RFC 6265 8.5):
 * an unprefixed `session` would overwrite the cookie of the application.
 */
export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : 'oauth_service_'}${name}`;
}
