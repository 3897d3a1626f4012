// A page with an unmodified client of the Model Context Protocol. The query parameters `api` and `client_id` select
// the API and the client. The page writes the tool's result, or an error, to <output>.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { document, localStorage, location } = globalThis;
const query = new URLSearchParams(location.search);
for (const name of ['api', 'client_id']) if (query.has(name)) localStorage.setItem(name, query.get(name));

const kept = (name) => JSON.parse(localStorage.getItem(name) ?? 'null') ?? undefined;
const keep = (name, value) => localStorage.setItem(name, JSON.stringify(value));

/** OAuthClientProvider of the SDK, for a registered client. */
const provider = {
  redirectUrl: `${location.origin}/callback`,
  clientMetadata: { redirect_uris: [`${location.origin}/callback`], token_endpoint_auth_method: 'none' },
  state: () => {
    keep('state', crypto.randomUUID());
    return kept('state');
  },
  clientInformation: () => ({ client_id: localStorage.getItem('client_id') }),
  tokens: () => kept('tokens'),
  saveTokens: (tokens) => keep('tokens', tokens),
  redirectToAuthorization: (url) => location.assign(url.href),
  saveCodeVerifier: (verifier) => keep('verifier', verifier),
  codeVerifier: () => kept('verifier'),
};

async function callTool() {
  const server = new URL(localStorage.getItem('api'));
  if (query.has('code')) {
    if (query.get('state') !== kept('state')) throw new Error('another state');
    await new StreamableHTTPClientTransport(server, { authProvider: provider }).finishAuth(query.get('code'));
  }
  const client = new Client({ name: 'page', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(server, { authProvider: provider }));
  const { content } = await client.callTool({ name: 'who_am_i' });
  return content[0].text;
}

callTool().then(
  (text) => document.querySelector('output').append(text),
  (error) => {
    // After an UnauthorizedError, the browser navigates to the authorization endpoint.
    if (!(error instanceof UnauthorizedError)) document.querySelector('output').append(String(error));
  },
);
