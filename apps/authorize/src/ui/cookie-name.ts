/**
 * `__Host-` keeps other hosts of the domain from setting the cookie (RFC 6265bis 4.1.3.2), but requires https. On `localhost`,
 * where ports share cookies (RFC 6265 8.5), the prefix protects the cookies of the application.
 */
export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : 'oauth_service_'}${name}`;
}
