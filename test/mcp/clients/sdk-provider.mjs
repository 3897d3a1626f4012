// OAuthClientProvider of an unregistered client, and a tool call, with the unmodified SDK.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

/** @param storage must keep its values when the browser leaves the page */
export const createProvider = ({ redirectUrl, clientMetadataUrl, storage, redirect }) => ({
  redirectUrl,
  clientMetadataUrl,
  clientMetadata: { client_name: 'SDK', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
  state() {
    storage.set('state', crypto.randomUUID());
    return storage.get('state');
  },
  clientInformation: ({ issuer } = {}) => storage.get(`client of ${issuer}`),
  saveClientInformation: (client, { issuer } = {}) => storage.set(`client of ${issuer}`, client),
  tokens: () => storage.get('tokens'),
  saveTokens: (tokens) => storage.set('tokens', tokens),
  discoveryState: () => storage.get('discovery'),
  saveDiscoveryState: (discovery) => storage.set('discovery', discovery),
  saveCodeVerifier: (verifier) => storage.set('verifier', verifier),
  codeVerifier: () => storage.get('verifier'),
  redirectToAuthorization: redirect,
  async finish(server, callback) {
    if (callback.searchParams.get('state') !== storage.get('state')) throw new Error('another state');
    await new StreamableHTTPClientTransport(server, { authProvider: this }).finishAuth(callback.searchParams);
  },
  /** @returns the text of the result; undefined after a call of `redirect` */
  async callTool(server, name, args) {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    try {
      await client.connect(new StreamableHTTPClientTransport(server, { authProvider: this }));
      const { content } = await client.callTool({ name, arguments: args });
      return content[0].text;
    } catch (error) {
      if (error instanceof UnauthorizedError) return undefined;
      throw error;
    } finally {
      await client.close();
    }
  },
});
