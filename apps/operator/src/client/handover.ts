import type { ClientWithSecrets } from '#database/client/client.js';
import { hasKeys } from '#oauth/client.js';
import { ASSERTION_TYPE, MAX_ASSERTION_LIFETIME } from '#oauth/client-assertion/client-assertion.js';
import { ASSERTION_ALGORITHMS } from '#oauth/client-assertion/client-keys.js';
import { ENDPOINTS, ME_SCOPE } from '#oauth/endpoints.js';
import { OPENID, OPENID_SCOPES } from '#oauth/openid/openid-scopes.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { algorithmOf } from './openid-registration.js';
import { shellQuoted } from '../command-line/shell.js';
import { describeKeys } from './client.description.js';
import type { ServiceTimes } from '../connections/status.connection.js';

export interface HandoverOptions {
  readonly secretDelivery: string;
  /** URL of the integration guide; undefined if the operator sends the guide as a file. */
  readonly guide?: string | undefined;
  readonly times: ServiceTimes;
  /** Null if SCOPES_FILE cannot be read. */
  readonly scopes: ScopeCatalogue | null;
}

export interface Origins {
  readonly AUTH_URL: string;
  readonly BASE_URL: string;
  readonly API_URL: string;
}

/** Markdown for the owner of an application. Never contains the secret. */
export function handoverText(
  client: ClientWithSecrets,
  { AUTH_URL, BASE_URL, API_URL }: Origins,
  { secretDelivery, guide, times, scopes: catalogue }: HandoverOptions,
): string {
  const { clientId, name, type, redirectUris, requirePar } = client;
  // Leaves out undeclared scopes: a request for them would be refused.
  const [scopes, optionalScopes] = [client.scopes, client.optionalScopes].map((names) =>
    names.filter((scope) => catalogue?.has(scope) ?? true),
  ) as [string[], string[]];
  const isPublic = type === 'public';
  const [redirectUri = ''] = redirectUris;
  const tokenUrl = BASE_URL + ENDPOINTS.token;
  const refreshUrl = BASE_URL + ENDPOINTS.refreshToken;
  const signs = hasKeys(client);
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
  // Required with the scope openid (OpenID Connect Core 3.1.2.1).
  if (scopes.includes(OPENID)) authorization.set('response_type', 'code');
  const parameters = `${authorization}&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256`;
  const idField = idFieldOf(clientId);
  const start = requirePar
    ? `\
REQUEST_URI=$(curl -sS ${BASE_URL}${ENDPOINTS.par} \\
  -d "${parameters}"${secretField} | node -p "JSON.parse(fs.readFileSync(0)).request_uri")
echo "${AUTH_URL}${ENDPOINTS.authorize}?${new URLSearchParams({ client_id: clientId })}&request_uri=$REQUEST_URI"`
    : `echo "${AUTH_URL}${ENDPOINTS.authorize}?${parameters}"`;
  return `\
# ${markdown(name)}: access for your application

| | |
| --- | --- |
| client id | ${code(clientId).replaceAll('|', String.raw`\|`)} |
| client secret | ${
    isPublic
      ? 'none: your application proves itself by PKCE (RFC 7636)'
      : signs
        ? 'none: your application signs assertions with its private key'
        : markdown(secretDelivery)
  } |
| authorization URL | ${AUTH_URL}${ENDPOINTS.authorize} |
| access-token request URL | ${tokenUrl} |
| refresh-token request URL | ${refreshUrl} |

Redirect URIs, compared character by character: ${redirectUris.map(code).join(', ')}

Scopes that you may request: ${scopes.map((scope) => `\`${scope}\``).join(', ')}${
    optionalScopes.length > 0
      ? `. Users opt in to ${optionalScopes.map((scope) => `\`${scope}\``).join(', ')}: read \`scope\` in the token answer`
      : ''
  }

Libraries read the other addresses from ${BASE_URL}${ENDPOINTS.authorizationServerMetadata}
${openIdSection(client, scopes, BASE_URL)}
${signs ? assertions(client, BASE_URL) : ''}The integration guide has recipes for client libraries: ${guide ?? '`integrate.md`, which the operator sends with this text'}

## Try it

1. Send the user's browser to the authorization URL, with a new random \`state\` and PKCE challenge each time:

\`\`\`sh
STATE=$(node -p "crypto.randomBytes(24).toString('base64url')")
VERIFIER=$(node -p "crypto.randomBytes(32).toString('base64url')")
CHALLENGE=$(node -p "crypto.createHash('sha256').update('$VERIFIER').digest('base64url')")
${start}
\`\`\`

2. The user clicks _Allow_ and returns to your redirect URI with \`code\`, \`state\` and \`iss\`. Continue only if \`state\` is the one you sent and \`iss\` is
\`${BASE_URL}\` (RFC 9207). Without \`code\`, \`error\` says why.${
    client.requireState
      ? ''
      : ' If your library cannot send a `state`, leave it out: your application may, because it sends a PKCE challenge.'
  }

3. Exchange the code ${times.codeLifetime === undefined ? 'immediately' : `within ${seconds(times.codeLifetime)}`}. It works once:

\`\`\`sh
curl -sS ${tokenUrl} \\
  -d grant_type=authorization_code -d "code=$CODE" -d "code_verifier=$VERIFIER" \\
  --data-urlencode ${shellQuoted(`redirect_uri=${redirectUri}`)} \\
  ${idField}${secretField}
\`\`\`

${apiRequests(scopes, API_URL, catalogue)}

5. When the access token expires, refresh it. Store the new refresh token of each answer:

\`\`\`sh
curl -sS ${refreshUrl} -H "Authorization: Bearer $REFRESH_TOKEN" \\
  -d grant_type=refresh_token ${idField}${secretField}
\`\`\`

6. When the user disconnects, revoke the access. All its tokens end:

\`\`\`sh
curl -sS ${BASE_URL}${ENDPOINTS.revoke} -d "token=$REFRESH_TOKEN" \\
  ${idField}${secretField}
\`\`\`

## Before you go live

- ${isPublic ? 'Keep the tokens' : `Keep the ${signs ? 'private key' : 'client secret'} and the tokens`} confidential: encrypted at rest, never in a URL, a log${isPublic ? '' : ' or a browser'}.
- One process refreshes a user's tokens at a time. ${retryRule(times)}
- On \`invalid_grant\`, delete the tokens and send the user through step 1 again.
- On 429 and 503, wait for the seconds of \`Retry-After\`, and repeat the request.
- Every error, its cause and its remedy: ${BASE_URL}${ENDPOINTS.errors}
- When you report an error, include its \`error_reference\`.
`;
}

function assertions(client: ClientWithSecrets, baseUrl: string): string {
  return `\
## Client authentication

Your application authenticates by \`private_key_jwt\` (RFC 7523): each request to the token, refresh, revocation and pushed-request
endpoints has a new JWT in \`client_assertion\`, below \`$ASSERTION\`. Libraries make it. Its claims:

- \`iss\` and \`sub\`: the client id
- \`aud\`: ${code(baseUrl)}, as a single text
- \`exp\`: a minute ahead, at most ${MAX_ASSERTION_LIFETIME / 60}; \`iat\`: now; \`jti\`: a new UUID

Algorithms: ${ASSERTION_ALGORITHMS.map(code).join(', ')}. Keys: ${
    client.jwksUri === null
      ? `${describeKeys(client).keys?.map(code).join(', ')} (RFC 7638 thumbprints). To rotate, send the operator a JWK Set with the old and the new public key.`
      : `the JWK Set at ${code(client.jwksUri)}. To rotate, publish the new public key beside the old one before you sign with it.`
  }

`;
}

/** Empty without the scope `openid`. */
function openIdSection(client: ClientWithSecrets, scopes: readonly string[], issuer: string): string {
  if (!scopes.includes(OPENID)) return '';
  const sub =
    client.sector === null
      ? 'the same for every application'
      : `pairwise: other than at applications of other hosts than ${client.sector}`;
  return `
## OpenID Connect

| | |
| --- | --- |
| issuer | ${issuer} |
| discovery | ${issuer}${ENDPOINTS.openIdConfiguration} |
| scopes | ${scopes.filter((scope) => OPENID_NAMES.includes(scope)).join(' ')} |
| ID tokens are signed with | ${algorithmOf(client)} |
| \`sub\` | ${sub} |

Send a new random \`nonce\` with each request, and compare it with the \`nonce\` of the ID token.
`;
}

const OPENID_NAMES: readonly string[] = OPENID_SCOPES.map(({ name }) => name);

/** Step 4. Only the URL of the profile is known here; other APIs get a placeholder. */
function apiRequests(scopes: readonly string[], apiUrl: string, catalogue: ScopeCatalogue | null): string {
  if (scopes.includes(ME_SCOPE))
    return `\
4. Verify that the access token works:

\`\`\`sh
curl -sS ${apiUrl}${ENDPOINTS.me} -H "Authorization: Bearer $ACCESS_TOKEN"
\`\`\``;
  const apiOf = (scope: string) => catalogue?.find(scope)?.resource || apiUrl;
  const apiScopes = scopes.filter((scope) => !OPENID_NAMES.includes(scope));
  if (apiScopes.length === 0)
    return `\
4. The answer has the ID token. UserInfo has the claims that the user granted:

\`\`\`sh
curl -sS ${apiUrl}${ENDPOINTS.userInfo} -H "Authorization: Bearer $ACCESS_TOKEN"
\`\`\``;
  const requests = [...new Set(apiScopes.map(apiOf))].map(
    (api) => `\
With ${apiScopes
      .filter((scope) => apiOf(scope) === api)
      .map(code)
      .join(', ')}:

\`\`\`sh
curl -sS "${api}$API_PATH" -H "Authorization: Bearer $ACCESS_TOKEN"
\`\`\``,
  );
  return `4. Call the API with the access token. Its documentation has the paths.\n\n${requests.join('\n\n')}`;
}

function retryRule({ retryWindow }: ServiceTimes): string {
  if (retryWindow === undefined) return 'After a lost answer, repeat the same request immediately.';
  return retryWindow === 0
    ? 'A refresh token works once: after a lost answer, send the user through step 1 again.'
    : `After a lost answer, repeat the same request within ${seconds(retryWindow)}.`;
}

const seconds = (count: number): string => `${count} second${count === 1 ? '' : 's'}`;

/** Imported identifiers may contain any visible ASCII character. */
function idFieldOf(clientId: string): string {
  return /^[\w.~-]+$/.test(clientId)
    ? `-d client_id=${clientId}`
    : `--data-urlencode ${shellQuoted(`client_id=${clientId}`)}`;
}

/** Code span (CommonMark 6.1): the fence is longer than any run of backticks in the text. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? fence + text + fence : `${fence} ${text} ${fence}`;
}

function markdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|#&]/g, '\\$&');
}
