/** Where a redirect URI leads, in words for the user. */
export function describeDestination(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return `the app ${protocol.slice(0, -1)} on this device`;
  return isLoopback(hostname) ? `an app on this computer (${host})` : host;
}

/**
 * Sources for the consent page's form-action. Chromium applies form-action to every redirect that follows the form,
 * not only to the first: an application's callback at api.example.com may go on to www.example.com. So all of https
 * is allowed beside the callback's own origin; a host cannot be more exact than that without breaking applications.
 */
export function formTargets(redirectUri: string): string[] {
  const { protocol, hostname, host } = new URL(redirectUri);
  // CSP knows no IPv6 address, and a registered host may hold characters that mean something in a policy.
  const origin = /^[a-z0-9.-]+$/.test(hostname) ? `${protocol}//${host}` : protocol;
  if (protocol === 'https:') return [origin, 'https:'];
  return protocol === 'http:' ? [origin, 'https:'] : [protocol];
}

function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
