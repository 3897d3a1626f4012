import { REDIRECT_URI, started } from '#test/support/fixture.js';
import { type AssertionSettings, ASSERTION_TYPE, ClientKey, keysOf } from '#test/support/keys.js';
import type { ClientKeys } from '#oauth/oauth-client.js';
import type { TokenConfiguration } from '../../src/token.configuration.js';
import { type ConnectedTokenApp, useTokenApp } from './use-token-app.js';

export const ISSUER = 'https://base.example.com';
export const TOKEN_URL = `${ISSUER}/api/auth/oauth/token`;

export interface KeyClient {
  readonly app: ConnectedTokenApp;
  readonly key: ClientKey;
  readonly clientId: string;
  register(keys: ClientKeys): Promise<string>;
  credentials(settings?: AssertionSettings, key?: ClientKey): Promise<Record<string, string>>;
  exchange(clientId?: string): Promise<Record<string, string>>;
}

export function useKeyClient(settings: Partial<TokenConfiguration> = {}): KeyClient {
  const app = useTokenApp(settings);
  const shared = started() as { key: ClientKey; clientId: string };
  const register = async (keys: ClientKeys): Promise<string> => {
    const { clientId } = await app.clients.create({
      name: 'Signing Calendar',
      type: 'confidential',
      scopes: ['profile:read'],
      redirectUris: [REDIRECT_URI],
      ...keys,
    });
    return clientId;
  };
  beforeAll(async () => {
    shared.key = await ClientKey.generate();
    shared.clientId = await register(keysOf(shared.key));
  });
  return {
    app,
    get key() {
      return shared.key;
    },
    get clientId() {
      return shared.clientId;
    },
    register,
    async credentials(assertion = {}, key = shared.key) {
      return {
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: await key.assertion(shared.clientId, ISSUER, assertion),
      };
    },
    async exchange(clientId = shared.clientId) {
      const code = await app.code(clientId, app.userId);
      return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
    },
  };
}
