import type { ClientWithSecrets } from '../client.js';
import { MAX_ASSERTION_LIFETIME } from '#oauth/client-assertion/client-assertion.js';
import { ASSERTION_ALGORITHMS } from '#oauth/client-assertion/client-keys.js';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { describeKeys, hasKeys } from '#oauth/oauth-client.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { isFapiAlgorithm } from '#oauth/jwk.js';
import { OPENID, OPENID_SCOPES } from '#oauth/openid/openid-scopes.js';
import { algorithmOf } from '../registration/openid-registration.js';

export const OPENID_NAMES: readonly string[] = OPENID_SCOPES.map(({ name }) => name);

export function assertionSection(client: ClientWithSecrets, baseUrl: string): string {
  return `\
## Client authentication

Your application authenticates by \`private_key_jwt\` (RFC 7523): each request to the token endpoint, and to every other
endpoint at which your application authenticates, has a new JWT in \`client_assertion\`, below \`$ASSERTION\`. Libraries make it. Its claims:

- \`iss\` and \`sub\`: the client id
- \`aud\`: ${code(baseUrl)}, as a single text
- \`exp\`: a minute ahead, at most ${MAX_ASSERTION_LIFETIME / 60}; \`iat\`: now; \`jti\`: a new UUID

Algorithms: ${permitted(client, ASSERTION_ALGORITHMS)}. Keys: ${
    client.jwksUri === null
      ? `${describeKeys(client).keys?.map(code).join(', ')} (RFC 7638 thumbprints). To rotate, send the operator the new public key before you sign with it.`
      : `the JWK Set at ${code(client.jwksUri)}. To rotate, add the new public key to it before you sign with it.`
  }

`;
}

export function boundSection(client: ClientWithSecrets): string {
  if (!client.dpopBound) return '';
  return `\
## Bound tokens

Your tokens are bound to a key of your application (DPoP, RFC 9449): each request to the token and refresh endpoints needs a new proof, below
\`$PROOF\`, and each API request a proof and the scheme \`DPoP\`. Libraries make proofs. A proof is a JWT:

- header \`typ\`: \`dpop+jwt\`; \`jwk\`: your public key; \`alg\`: ${permitted(client, DPOP_ALGORITHMS)}
- \`htm\` and \`htu\`: method and URL of the request; \`iat\`: now; \`jti\`: a new UUID; for an API also \`ath\`: the SHA-256 of the access token
- \`nonce\`: the value of the latest header \`DPoP-Nonce\`, if responses have it

${
  hasKeys(client)
    ? 'You may use a new key at any time: each access token needs the key of the proof with which you requested it.'
    : 'Keep the key as long as the tokens: they are worthless without it.'
}

`;
}

/** Steps 1 to 3 on a device without a browser (RFC 8628). */
export function deviceSteps(
  scopes: readonly string[],
  credentials: string,
  { baseUrl, proof }: { readonly baseUrl: string; readonly proof: string },
): string {
  return `\
1. When a user is at the device, request codes. Show \`user_code\` and \`verification_uri\`, or \`verification_uri_complete\` as a QR code:

\`\`\`sh
curl -sS ${baseUrl}${ENDPOINTS.deviceAuthorization}${proof} --data-urlencode "scope=${scopes.join(' ')}" \\
  ${credentials}
\`\`\`

2. The user opens the address on a phone, logs in, types the code and clicks _Allow_.

3. Meanwhile poll every 5 seconds. \`authorization_pending\` means wait; \`slow_down\` means wait 5 seconds longer from now on; any other error ends the attempt:

\`\`\`sh
curl -sS ${baseUrl}${ENDPOINTS.token}${proof} \\
  -d grant_type=${DEVICE_CODE} -d "device_code=$DEVICE_CODE" \\
  ${credentials}
\`\`\``;
}

/** Returns the algorithms that the client's profile permits (section 5.4.1 of FAPI 2.0). */
function permitted({ profile }: ClientWithSecrets, algorithms: readonly string[]): string {
  return algorithms
    .filter((alg) => profile === null || isFapiAlgorithm(alg))
    .map(code)
    .join(', ');
}

export function openIdSection(
  client: ClientWithSecrets,
  scopes: readonly string[],
  { authUrl, baseUrl: issuer }: { readonly authUrl: string; readonly baseUrl: string },
): string {
  if (!scopes.includes(OPENID)) return '';
  const { sector, postLogoutRedirectUris, backchannelLogoutUri } = client;
  const sub =
    sector === null
      ? 'the same for every application'
      : `pairwise: other than at applications of other hosts than ${sector}`;
  return `
## OpenID Connect

| | |
| --- | --- |
| issuer | ${issuer} |
| discovery | ${issuer}${ENDPOINTS.openIdConfiguration} |
| scopes | ${scopes.filter((scope) => OPENID_NAMES.includes(scope)).join(' ')} |
| ID tokens are signed with | ${algorithmOf(client)} |
| \`sub\` | ${sub} |
| log-out (RP-Initiated Logout 1.0) | ${authUrl}${ENDPOINTS.logout}, with \`id_token_hint\` |
| users return after it to | ${postLogoutRedirectUris.map(cell).join(', ') || 'no address: they stay there'} |
| logout tokens (Back-Channel Logout 1.0) | ${backchannelLogoutUri === null ? 'not sent' : `posted to ${cell(backchannelLogoutUri)}`} |

Send a new random \`nonce\` with each request, and compare it with the \`nonce\` of the ID token. The ID token has no name and no email
address: read UserInfo.
${backchannelLogoutUri === null ? '' : LOGOUT_TOKENS}`;
}

const LOGOUT_TOKENS = `
Your address for logout tokens gets a POST with the form field \`logout_token\` when a user's session ends. Verify it like an ID token: \`typ\` is
\`logout+jwt\`, and it has no \`nonce\`. End the session with its \`sid\`, or without \`sid\` every session of \`sub\`. Answer 200 within 5 seconds. Except the
address from CSRF protection and from logins.
`;

/** Code span (CommonMark 6.1): the fence is longer than any run of backticks in the text. */
export function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? fence + text + fence : `${fence} ${text} ${fence}`;
}

export const cell = (text: string): string => code(text).replaceAll('|', String.raw`\|`);

export function markdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|#&]/g, '\\$&');
}
