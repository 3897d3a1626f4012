import type { ClientWithSecrets } from '../client.js';
import { ASSERTION_TYPE } from '#oauth/client-assertion/client-assertion.js';
import { CLIENT_TOKEN_LIFETIME } from '#oauth/client-credentials.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { assertionSection, boundSection, cell, code, markdown } from './handover-sections.js';

export function clientCredentialsText(
  client: ClientWithSecrets,
  { baseUrl, consoleUrl }: { readonly baseUrl: string; readonly consoleUrl: string },
): string {
  const { clientId, name, scopes, dpopBound } = client;
  const [token, api] = [baseUrl + ENDPOINTS.token, consoleUrl + ENDPOINTS.admin];
  const proof = dpopBound ? ' -H "DPoP: $PROOF"' : '';
  return `\
# ${markdown(name)}: access to the HTTP API of the console

| | |
| --- | --- |
| client id | ${cell(clientId)} |
| access-token request URL | ${token} |
| API | ${api} |
| scopes | ${scopes.map(code).join(', ')} |

The API client acts in the name of the operator, without a user (RFC 6749 4.4). The audit trail shows its client id with everything it does.

${assertionSection(client, baseUrl)}${boundSection(client)}\
## Try it

\`\`\`sh
ACCESS_TOKEN=$(curl -sS ${token}${proof} -d grant_type=client_credentials -d "scope=${scopes[0] ?? ''}" \\
  -d client_assertion_type=${ASSERTION_TYPE} -d "client_assertion=$ASSERTION" | node -p "JSON.parse(fs.readFileSync(0)).access_token")
curl -sS ${api}/clients -H "Authorization: ${dpopBound ? 'DPoP' : 'Bearer'} $ACCESS_TOKEN"${proof}
\`\`\`

- An access token is valid for at most ${CLIENT_TOKEN_LIFETIME / 60} minutes, at this API only. There is no refresh token: request another access token.
- Request only the scope that a task needs: without \`scope\` the token has all scopes.
- Keep the private key and the tokens confidential: never in a URL, a log or a browser.
- When you report an error, include its \`error_reference\`.
`;
}
