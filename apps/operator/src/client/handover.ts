import type { ClientWithSecrets } from '#database/client/client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { shellQuoted } from '../command-line/shell.js';

export interface HandoverOptions {
  /** How the owner of the application gets the secret. */
  readonly secretDelivery: string;
  /** URL of the integration guide; undefined for no link. */
  readonly guide?: string | undefined;
}

/** Origins of the three apps. */
export interface Origins {
  readonly AUTH_URL: string;
  readonly BASE_URL: string;
  readonly API_URL: string;
}

/**
 * What the owner of an application needs, as Markdown: the five things, requests with the values of this client, and a
 * checklist. Never the secret.
 */
export function handoverText(
  { clientId, name, type, redirectUris, scopes, optionalScopes, requirePar }: ClientWithSecrets,
  { AUTH_URL, BASE_URL, API_URL }: Origins,
  { secretDelivery, guide }: HandoverOptions,
): string {
  const isPublic = type === 'public';
  const [redirectUri = ''] = redirectUris;
  const tokenUrl = BASE_URL + ENDPOINTS.token;
  const refreshUrl = BASE_URL + ENDPOINTS.refreshToken;
  const secretField = isPublic ? '' : ' \\\n  -d "client_secret=$CLIENT_SECRET"';
  const authorization = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
  });
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
| client secret | ${isPublic ? 'none: your application proves itself by PKCE (RFC 7636)' : markdown(secretDelivery)} |
| authorization URL | ${AUTH_URL}${ENDPOINTS.authorize} |
| access-token request URL | ${tokenUrl} |
| refresh-token request URL | ${refreshUrl} |

Redirect URIs, compared character by character: ${redirectUris.map(code).join(', ')}

Scopes that you may request: ${scopes.map((scope) => `\`${scope}\``).join(', ')}${
    optionalScopes.length > 0
      ? `. Users may decline ${optionalScopes.map((scope) => `\`${scope}\``).join(', ')}: read \`scope\` in the token answer`
      : ''
  }

Libraries read the other addresses from ${BASE_URL}${ENDPOINTS.authorizationServerMetadata}${
    guide === undefined ? '' : `\n\nThe integration guide: ${guide}`
  }

## Try it

1. Send the user's browser to the authorization URL, with a new random \`state\` and PKCE challenge each time:

\`\`\`sh
STATE=$(node -p "crypto.randomBytes(24).toString('base64url')")
VERIFIER=$(node -p "crypto.randomBytes(32).toString('base64url')")
CHALLENGE=$(node -p "crypto.createHash('sha256').update('$VERIFIER').digest('base64url')")
${start}
\`\`\`

2. The user clicks _Allow_ and returns to your redirect URI with \`code\` and \`state\`. Compare \`state\` with the one you sent.

3. Exchange the code within 60 seconds. It works once:

\`\`\`sh
curl -sS ${tokenUrl} \\
  -d grant_type=authorization_code -d "code=$CODE" -d "code_verifier=$VERIFIER" \\
  --data-urlencode ${shellQuoted(`redirect_uri=${redirectUri}`)} \\
  ${idField}${secretField}
\`\`\`

4. Verify that the access token works:

\`\`\`sh
curl -sS ${API_URL}${ENDPOINTS.me} -H "Authorization: Bearer $ACCESS_TOKEN"
\`\`\`

5. When the access token expires, refresh it. Store the new refresh token of each answer:

\`\`\`sh
curl -sS ${refreshUrl} -H "Authorization: Bearer $REFRESH_TOKEN" \\
  -d grant_type=refresh_token ${idField}${secretField}
\`\`\`

## Before you go live

- ${isPublic ? 'Keep the tokens' : 'Keep the client secret and the tokens'} confidential: encrypted at rest, never in a URL, a log${isPublic ? '' : ' or a browser'}.
- One process refreshes a user's tokens at a time. After a lost answer, repeat the same request within 30 seconds.
- On \`invalid_grant\`, delete the tokens and send the user through step 1 again.
- On 429 and 503, wait for the seconds of \`Retry-After\`, and repeat the request.
- Every error, its cause and its remedy: ${BASE_URL}${ENDPOINTS.errors}
- When you report an error, include its \`error_reference\`.
`;
}

/** The argument of curl. Identifiers that were imported may have every visible character. */
function idFieldOf(clientId: string): string {
  return /^[\w.~-]+$/.test(clientId)
    ? `-d client_id=${clientId}`
    : `--data-urlencode ${shellQuoted(`client_id=${clientId}`)}`;
}

/** A code span (CommonMark 6.1), between more backticks than the text has in a row. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? fence + text + fence : `${fence} ${text} ${fence}`;
}

/** Text that Markdown shows as it is. */
function markdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|#&]/g, '\\$&');
}
