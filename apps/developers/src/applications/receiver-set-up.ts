import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { html, type Html } from '#ui/html.js';
import type { Viewer } from '../developer.js';
import { authentication, command, type Origins } from './request-examples.js';

/** Explains events and how to receive them (docs/events.md, docs/openid.md#log-out). */
export function receiverSetUp(
  { translator }: Viewer,
  client: OwnedClient,
  { BASE_URL }: Pick<Origins, 'BASE_URL'>,
): Html {
  const { clientId, type, redirectUris } = client;
  const receiver = (path: string) => `https://${hostOf(redirectUris)}/${path}`;
  const update = `operator client update ${clientId}`;
  return html`
    <p>${translator.text('events.about')}</p>
    ${
      type === 'confidential' &&
      html`<p>
          ${translator.text('events.by_application')}
          <code>${BASE_URL}${ENDPOINTS.ssfConfiguration}</code>
        </p>
        ${command(
          `curl ${BASE_URL}${ENDPOINTS.token} ${authentication(client)}`,
          `-d grant_type=client_credentials -d 'scope=ssf.read ssf.manage'`,
        )}
        ${command(
          `curl ${BASE_URL}${ENDPOINTS.eventStream} -H "Authorization: Bearer $ACCESS_TOKEN"`,
          `--json '{"delivery": {"method": "urn:ietf:rfc:8935", "endpoint_url": "${receiver('events')}"}}'`,
        )}`
    }
    <p>${translator.text('events.by_operator')}</p>
    ${command(`${update} --events-url ${receiver('events')}`)}
    ${command(`${update} --backchannel-logout-uri ${receiver('logout')}`)}
    <p><a href="${SHARED_SIGNALS}" rel="noreferrer">Shared Signals Framework 1.0</a></p>
  `;
}

const SHARED_SIGNALS = 'https://openid.net/specs/openid-sharedsignals-framework-1_0.html';

/** Host of the first redirect URI with https, as an example. */
function hostOf(redirectUris: readonly string[]): string {
  const [uri] = redirectUris.filter((each) => each.startsWith('https://'));
  return uri === undefined ? 'app.example.com' : new URL(uri).host;
}
