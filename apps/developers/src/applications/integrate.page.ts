import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ASSERTION_TYPE } from '#oauth/client-assertion/client-assertion.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { facts } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html } from '#ui/html.js';
import { backLink, copyable, pathOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';

export interface Origins {
  readonly AUTH_URL: string;
  readonly BASE_URL: string;
  readonly API_URL: string;
}

/** Steps of docs/integrate.md, with the values of the application. */
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
  const authorization = new URL(AUTH_URL + ENDPOINTS.authorize);
  const known = { client_id: clientId, redirect_uri: redirectUri ?? '', response_type: 'code', scope };
  authorization.search = new URLSearchParams(known).toString();
  const identified = authentication(client);
  const start = [
    'STATE=$(openssl rand -hex 24)',
    'VERIFIER=$(openssl rand -hex 32)',
    `CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d =)`,
    `echo "${authorization.href}&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256"`,
  ].join('\n');
  const exchange = [
    `curl ${BASE_URL}${ENDPOINTS.token} ${identified}`,
    '-d grant_type=authorization_code -d "code=$CODE" -d "code_verifier=$VERIFIER"',
    `--data-urlencode redirect_uri=${shellWord(redirectUri ?? '')}`,
  ];
  const device = [
    `curl ${BASE_URL}${ENDPOINTS.deviceAuthorization} ${identified}`,
    `--data-urlencode scope=${shellWord(scope)}`,
  ];
  const refresh = [
    `curl ${BASE_URL}${ENDPOINTS.token} ${identified}`,
    '-d grant_type=refresh_token -d "refresh_token=$REFRESH_TOKEN"',
  ];
  const revoke = [`curl ${BASE_URL}${ENDPOINTS.revoke} ${identified}`, '-d "token=$REFRESH_TOKEN"'];
  const example = (lines: readonly string[]) =>
    html`<pre tabindex="0" dir="ltr"><code>${lines.join(' \\\n  ')}</code></pre>`;
  return {
    title: translator.text('integrate.title', { name: client.name }),
    section: '/',
    content: html`
      ${backLink(client)}
      <p>${translator.text('integrate.intro')}</p>
      <p><a class="button even" href="${pathOf(clientId, 'try')}">${translator.text('try.title')}</a></p>
      ${facts([
        [translator.text('field.client_id'), copyable(viewer, 'client-id', clientId)],
        [translator.text('integrate.issuer'), copyable(viewer, 'issuer', BASE_URL)],
        [
          translator.text('integrate.discovery'),
          html`<code>${BASE_URL + ENDPOINTS.authorizationServerMetadata}</code>`,
        ],
        [translator.text('integrate.authorization'), html`<code>${AUTH_URL + ENDPOINTS.authorize}</code>`],
        [translator.text('integrate.token'), html`<code>${BASE_URL + ENDPOINTS.token}</code>`],
        [translator.text('integrate.api'), html`<code>${API_URL}/v2/me</code>`],
      ])}
      ${
        redirectUri !== undefined &&
        html`<h2>${translator.text('integrate.step_authorize')}</h2>
          <p>${translator.text('integrate.step_authorize_hint')}</p>
          ${example([start])}
          <h2>${translator.text(isPublic ? 'integrate.step_exchange_public' : 'integrate.step_exchange')}</h2>
          ${example(exchange)}`
      }
      ${
        deviceGrant &&
        html`<h2>${translator.text('integrate.step_device')}</h2>
          ${example(device)}`
      }
      <h2>${translator.text('integrate.step_call')}</h2>
      ${example([`curl ${API_URL}/v2/me`, '-H "Authorization: Bearer $ACCESS_TOKEN"'])}
      <h2>${translator.text('integrate.step_refresh')}</h2>
      ${example(refresh)}
      <h2>${translator.text('integrate.step_revoke')}</h2>
      ${example(revoke)}
    `,
  };
}

/** Arguments of curl that authenticate the application (RFC 6749 2.3.1, RFC 7523 2.2). */
function authentication(client: OwnedClient): string {
  if (client.type === 'public') return `-d client_id=${client.clientId}`;
  if (!hasKeys(client)) return `-u "${client.clientId}:$CLIENT_SECRET"`;
  return `-d client_assertion_type=${ASSERTION_TYPE} -d "client_assertion=$CLIENT_ASSERTION"`;
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
