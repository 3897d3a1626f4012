/** Where a redirect URI leads: the kind of place, which a message of the catalogue names, and its own name. */
export interface Destination {
  readonly kind: 'site' | 'device';
  readonly place: string;
}

export function destinationOf(redirectUri: string): Destination {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return { kind: 'device', place: protocol.slice(0, -1) };
  return { kind: isLoopback(hostname) ? 'device' : 'site', place: host };
}

// Where a callback on the developer's machine may go on to: the front end of the same application, on another port.
const LOOPBACK_SOURCES = ['http://localhost:*', 'http://127.0.0.1:*'];

/**
 * Sources for the consent page's form-action. Chromium applies form-action to every redirect that follows the form,
 * not only to the first, and stops silently: a callback at api.example.com that goes on to www.example.com would
 * never arrive. So all of https is allowed beside the callback's own origin, and the local machine to local callbacks.
 */
export function formTargets(redirectUri: string): string[] {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return [protocol];
  // CSP knows no IPv6 address, and a registered host may hold characters that mean something in a policy.
  const origin = /^[a-z0-9.-]+$/.test(hostname) ? `${protocol}//${host}` : protocol;
  return protocol === 'https:' ? [origin, 'https:'] : [origin, ...LOOPBACK_SOURCES, 'https:'];
}

export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
