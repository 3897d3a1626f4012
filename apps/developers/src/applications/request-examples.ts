import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ASSERTION_TYPE } from '#oauth/client-assertion/client-assertion.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { html, type Html } from '#ui/html.js';

export interface Origins {
  readonly AUTH_URL: string;
  readonly BASE_URL: string;
  readonly API_URL: string;
}

/** @param parameters further parameters (RFC 6749 4.1.1) */
export function authorizationUrl(
  { AUTH_URL }: Pick<Origins, 'AUTH_URL'>,
  clientId: string,
  { redirectUri, scope }: { readonly redirectUri: string; readonly scope: string },
  parameters: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(AUTH_URL + ENDPOINTS.authorize);
  const known = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope };
  url.search = new URLSearchParams({ ...known, ...parameters }).toString();
  return url;
}

/** Shows the lines of one command. */
export function command(...lines: readonly string[]): Html {
  return html`<pre tabindex="0" dir="ltr"><code>${lines.join(' \\\n  ')}</code></pre>`;
}

/** Arguments of curl that authenticate the application (RFC 6749 2.3.1, RFC 7523 2.2). */
export function authentication(client: OwnedClient): string {
  if (client.type === 'public') return `-d client_id=${client.clientId}`;
  if (!hasKeys(client)) return `-u "${client.clientId}:$CLIENT_SECRET"`;
  return `-d client_assertion_type=${ASSERTION_TYPE} -d "client_assertion=$CLIENT_ASSERTION"`;
}

export function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
