import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Page } from '#pages/page.responder.js';
import { html } from '#ui/html.js';
import { backLink, copyable, factsOf, pathOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';
import { receiverSetUp } from './receiver-set-up.js';
import { authentication, authorizationUrl, command, type Origins, shellWord } from './request-examples.js';

/** Steps of docs/integrate.md and docs/events.md, with the values of the application. */
export function integratePage(
  viewer: Viewer,
  client: OwnedClient,
  { AUTH_URL, BASE_URL, API_URL }: Origins,
): Page {
  const { translator } = viewer;
  const { clientId, type, redirectUris, scopes, deviceGrant } = client;
  const [redirectUri] = redirectUris;
  const isPublic = type === 'public';
  const scope = scopes.join(' ');
  const url = authorizationUrl({ AUTH_URL }, clientId, { redirectUri: redirectUri ?? '', scope });
  const identified = authentication(client);
  const start = [
    'STATE=$(openssl rand -hex 24)',
    'VERIFIER=$(openssl rand -hex 32)',
    `CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d =)`,
    `echo "${url.href}&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256"`,
  ].join('\n');
  const request = (endpoint: string, ...fields: readonly string[]) =>
    command(`curl ${BASE_URL}${endpoint} ${identified}`, ...fields);
  return {
    title: translator.text('integrate.title', { name: client.name }),
    section: '/',
    content: html`
      ${backLink(client)}
      <p>${translator.text('integrate.intro')}</p>
      <p><a class="button even" href="${pathOf(clientId, 'try')}">${translator.text('try.title')}</a></p>
      ${factsOf(translator, {
        'field.client_id': copyable(viewer, 'client-id', clientId),
        'integrate.issuer': copyable(viewer, 'issuer', BASE_URL),
        'integrate.discovery': html`<code>${BASE_URL + ENDPOINTS.authorizationServerMetadata}</code>`,
        'integrate.authorization': html`<code>${AUTH_URL + ENDPOINTS.authorize}</code>`,
        'integrate.token': html`<code>${BASE_URL + ENDPOINTS.token}</code>`,
        'integrate.api': html`<code>${API_URL}/v2/me</code>`,
      })}
      ${
        redirectUri !== undefined &&
        html`<h2>${translator.text('integrate.step_authorize')}</h2>
          <p>${translator.text('integrate.step_authorize_hint')}</p>
          ${command(start)}
          <h2>${translator.text(isPublic ? 'integrate.step_exchange_public' : 'integrate.step_exchange')}</h2>
          ${request(
            ENDPOINTS.token,
            '-d grant_type=authorization_code -d "code=$CODE" -d "code_verifier=$VERIFIER"',
            `--data-urlencode redirect_uri=${shellWord(redirectUri)}`,
          )}`
      }
      ${
        deviceGrant &&
        html`<h2>${translator.text('integrate.step_device')}</h2>
          ${request(ENDPOINTS.deviceAuthorization, `--data-urlencode scope=${shellWord(scope)}`)}`
      }
      <h2>${translator.text('integrate.step_call')}</h2>
      ${command(`curl ${API_URL}/v2/me`, '-H "Authorization: Bearer $ACCESS_TOKEN"')}
      <h2>${translator.text('integrate.step_refresh')}</h2>
      ${request(ENDPOINTS.token, '-d grant_type=refresh_token -d "refresh_token=$REFRESH_TOKEN"')}
      <h2>${translator.text('integrate.step_revoke')}</h2>
      ${request(ENDPOINTS.revoke, '-d "token=$REFRESH_TOKEN"')}
      <h2>${translator.text('events.title')}</h2>
      ${receiverSetUp(viewer, client, { BASE_URL })}
    `,
  };
}
