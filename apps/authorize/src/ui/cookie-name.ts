/**
 * The full name of a cookie. `__Host-` keeps other hosts of the same domain from setting it (RFC 6265bis 4.1.3.2), but needs
 * https. In development the service shares `localhost` with the application, and browsers send cookies to every port of a host
 * (RFC 6265 8.5): a common name such as `session` would overwrite the application's.
 */
export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : 'oauth_service_'}${name}`;
}
