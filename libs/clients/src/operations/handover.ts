import type { ClientWithSecrets } from '../client.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { ASSERTION_TYPE } from '#oauth/client-assertion/client-assertion.js';
import { ENDPOINTS, ME_SCOPE } from '#oauth/endpoints.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { counted, shellQuoted } from '#operations/wording.js';
import type { ServiceTimes } from '#operations/running-services/status.js';
import {
  assertionSection,
  boundSection,
  cell,
  code,
  deviceSteps,
  markdown,
  OPENID_NAMES,
  openIdSection,
} from './handover-sections.js';

export interface HandoverOptions {
  readonly secretDelivery: string;
  readonly guide?: string | undefined;
  readonly times: ServiceTimes;
  /** Null if this machine has no valid SCOPES_FILE. */
  readonly scopes: ScopeCatalogue | null;
}

export interface Origins {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly apiUrl: string;
}

/** Never contains the secret. */
export function handoverText(
  client: ClientWithSecrets,
  { authUrl, baseUrl, apiUrl }: Origins,
  { secretDelivery, guide, times, scopes: catalogue }: HandoverOptions,
): string {
  const { clientId, name, type, redirectUris, requirePar } = client;
  // Omits undeclared scopes, because a request for them would be rejected.
  const [scopes, optionalScopes] = [client.scopes, client.optionalScopes].map((names) =>
    names.filter((scope) => catalogue?.has(scope) ?? true),
  ) as [string[], string[]];
  const isPublic = type === 'public';
  const [redirectUri = ''] = redirectUris;
  const tokenUrl = baseUrl + ENDPOINTS.token;
  const refreshUrl = baseUrl + ENDPOINTS.refreshToken;
  const signs = hasKeys(client);
  const proof = client.dpopBound ? ' -H "DPoP: $PROOF"' : '';
  const access = client.dpopBound ? 'DPoP' : 'Bearer';
  const secretField = isPublic
    ? ''
    : signs
      ? ` \\\n  -d client_assertion_type=${ASSERTION_TYPE} -d "client_assertion=$ASSERTION"`
      : ' \\\n  -d "client_secret=$CLIENT_SECRET"';
  const authorization = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
  });
  const isOpenId = scopes.includes(OPENID);
  // Required with the scope openid (section 3.1.2.1 of OpenID Connect Core).
  if (isOpenId) authorization.set('response_type', 'code');
  const nonce = isOpenId ? '&nonce=$NONCE' : '';
  const parameters = `${authorization}&state=$STATE${nonce}&code_challenge=$CHALLENGE&code_challenge_method=S256`;
  const idField = idFieldOf(clientId);
  const start = requirePar
    ? `\
REQUEST_URI=$(curl -sS ${baseUrl}${ENDPOINTS.par} \\
  -d "${parameters}"${secretField} | node -p "JSON.parse(fs.readFileSync(0)).request_uri")
echo "${authUrl}${ENDPOINTS.authorize}?${new URLSearchParams({ client_id: clientId })}&request_uri=$REQUEST_URI"`
    : `echo "${authUrl}${ENDPOINTS.authorize}?${parameters}"`;
  const steps = `\
1. Send the user's browser to the authorization URL, with a new random \`state\` and PKCE challenge each time:

\`\`\`sh
STATE=$(node -p "crypto.randomBytes(24).toString('base64url')")
${isOpenId ? `NONCE=$(node -p "crypto.randomBytes(24).toString('base64url')")\n` : ''}VERIFIER=$(node -p "crypto.randomBytes(32).toString('base64url')")
CHALLENGE=$(node -p "crypto.createHash('sha256').update('$VERIFIER').digest('base64url')")
${start}
\`\`\`

2. The user clicks _Allow_ and returns to your redirect URI with \`code\`, \`state\` and \`iss\`. Continue only if \`state\` is the one you sent and \`iss\` is
\`${baseUrl}\` (RFC 9207). Without \`code\`, \`error\` says why.${
    client.requireState
      ? ''
      : ' If your library cannot send a `state`, leave it out: your application may, because it sends a PKCE challenge.'
  }

3. Exchange the code ${times.codeLifetime === undefined ? 'immediately' : `within ${counted(times.codeLifetime, 'second')}`}. It works once:

\`\`\`sh
curl -sS ${tokenUrl}${proof} \\
  -d grant_type=authorization_code -d "code=$CODE" -d "code_verifier=$VERIFIER" \\
  --data-urlencode ${shellQuoted(`redirect_uri=${redirectUri}`)} \\
  ${idField}${secretField}
\`\`\``;
  const devices = deviceSteps(scopes, `${idField}${secretField}`, { baseUrl, proof });
  const hasRedirectUri = redirectUri !== '';
  return `\
# ${markdown(name)}: access for your application

| | |
| --- | --- |
| client id | ${cell(clientId)} |
| client secret | ${
    isPublic
      ? `none: your application ${hasRedirectUri ? 'proves itself by PKCE (RFC 7636)' : 'is public'}`
      : signs
        ? 'none: your application signs assertions with its private key'
        : markdown(secretDelivery)
  } |${hasRedirectUri ? `\n| authorization URL | ${authUrl}${ENDPOINTS.authorize} |` : ''}
| access-token request URL | ${tokenUrl} |
| refresh-token request URL | ${refreshUrl} |${
    client.deviceGrant ? `\n| device authorization URL | ${baseUrl}${ENDPOINTS.deviceAuthorization} |` : ''
  }${
    client.profile === null
      ? ''
      : '\n| profile | FAPI 2.0 Security Profile: signed assertions, pushed requests, PKCE and DPoP are required |'
  }

${
  hasRedirectUri
    ? `Redirect URIs, compared character by character: ${redirectUris.map(code).join(', ')}`
    : 'Users type a code of the device (RFC 8628): there is no redirect URI.'
}

Scopes that you may request: ${scopes.map((scope) => `\`${scope}\``).join(', ')}${
    optionalScopes.length > 0
      ? `. Users opt in to ${optionalScopes.map((scope) => `\`${scope}\``).join(', ')}: read \`scope\` in the token answer`
      : ''
  }

Libraries read the other addresses from ${baseUrl}${ENDPOINTS.authorizationServerMetadata}
${openIdSection(client, scopes, { authUrl, baseUrl })}
${signs ? assertionSection(client, baseUrl) : ''}${boundSection(client)}The integration guide has recipes for client libraries${guide === undefined ? '. If it did not come with this text, ask the operator for it.' : `: ${guide}`}

## Try it

${hasRedirectUri ? steps : devices}

${apiRequests(scopes, apiUrl, catalogue, `-H "Authorization: ${access} $ACCESS_TOKEN"${proof}`)}

5. When the access token expires, refresh it. ${client.keepsRefreshToken ? 'The refresh token stays the same' : 'Store the new refresh token of each answer'}:

\`\`\`sh
curl -sS ${refreshUrl} -H "Authorization: Bearer $REFRESH_TOKEN"${proof} \\
  -d grant_type=refresh_token ${idField}${secretField}
\`\`\`

6. When the user disconnects, revoke the access. All its tokens end:

\`\`\`sh
curl -sS ${baseUrl}${ENDPOINTS.revoke} -d "token=$REFRESH_TOKEN" \\
  ${idField}${secretField}
\`\`\`
${hasRedirectUri && client.deviceGrant ? `\n## On a device without a browser\n\nThese steps replace steps 1 to 3 (RFC 8628):\n\n${devices}\n` : ''}
## Before you go live

- ${isPublic ? 'Keep the tokens' : `Keep the ${signs ? 'private key' : 'client secret'} and the tokens`} confidential: encrypted at rest, never in a URL${isPublic ? ' or a log' : ', a log or a browser'}.
- ${client.keepsRefreshToken ? 'A refresh may be repeated at any time.' : `One process refreshes a user's tokens at a time. ${retryRule(times)}`}
- On \`invalid_grant\`, delete the tokens and send the user through step 1 again.
- On 429 and 503, wait for the seconds of \`Retry-After\`, and repeat the request.
- Every error, its cause and its remedy: ${baseUrl}${ENDPOINTS.errors}
- When you report an error, include its \`error_reference\`.
`;
}

/** Step 4. Only the paths of the profile and UserInfo are known here; a placeholder stands for other paths. */
function apiRequests(
  scopes: readonly string[],
  apiUrl: string,
  catalogue: ScopeCatalogue | null,
  headers: string,
): string {
  if (scopes.includes(ME_SCOPE))
    return `\
4. Verify that the access token works:

\`\`\`sh
curl -sS ${apiUrl}${ENDPOINTS.me} ${headers}
\`\`\``;
  const apiOf = (scope: string) => catalogue?.find(scope)?.resource || apiUrl;
  const apiScopes = scopes.filter((scope) => !OPENID_NAMES.includes(scope));
  if (apiScopes.length === 0)
    return `\
4. The answer has the ID token. UserInfo has the claims that the user granted:

\`\`\`sh
curl -sS ${apiUrl}${ENDPOINTS.userInfo} ${headers}
\`\`\``;
  const requests = [...new Set(apiScopes.map(apiOf))].map(
    (api) => `\
With ${apiScopes
      .filter((scope) => apiOf(scope) === api)
      .map(code)
      .join(', ')}:

\`\`\`sh
curl -sS "${api}$API_PATH" ${headers}
\`\`\``,
  );
  return `4. Call the API with the access token. Its documentation has the paths.\n\n${requests.join('\n\n')}`;
}

function retryRule({ retryWindow }: ServiceTimes): string {
  if (retryWindow === undefined) return 'After a lost answer, repeat the same request immediately.';
  return retryWindow === 0
    ? 'A refresh token works once: after a lost answer, send the user through step 1 again.'
    : `After a lost answer, repeat the same request within ${counted(retryWindow, 'second')}.`;
}

/** Imported identifiers may contain any visible ASCII character. */
function idFieldOf(clientId: string): string {
  return /^[\w.~-]+$/.test(clientId)
    ? `-d client_id=${clientId}`
    : `--data-urlencode ${shellQuoted(`client_id=${clientId}`)}`;
}
