/** Where a redirect URI leads, in words for the user. */
export function describeDestination(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return `the app ${protocol.slice(0, -1)} on this device`;
  return isLoopback(hostname) ? `an app on this computer (${host})` : host;
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

function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
