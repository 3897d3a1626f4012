import { createServer } from 'node:http';
import { once } from 'node:events';
import { jest } from '@jest/globals';
import { generateKeyPair, exportJWK } from 'jose';

type Accounts = Map<string, Record<string, unknown>>;

export const LOGIN_CLIENT = { id: 'scheduling', secret: 'a client secret with : and /' } as const;

/** Starts a real OpenID provider with its own pages, on a site other than the app's. */
export async function startOpenIdProvider(port: number, authUrl: string) {
  const accounts: Accounts = new Map();
  const issuer = `http://localhost:${port}`;
  // The library warns about its development pages and store.
  jest.spyOn(console, 'warn').mockReturnValue(undefined);
  jest.spyOn(console, 'info').mockReturnValue(undefined);
  const { Provider } = await import('oidc-provider');
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: LOGIN_CLIENT.id,
        client_secret: LOGIN_CLIENT.secret,
        redirect_uris: [`${authUrl}/auth/login/callback`],
        post_logout_redirect_uris: [`${authUrl}/auth/logout`],
        backchannel_logout_uri: `${authUrl}/auth/login/back-channel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['only for tests'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username', 'picture', 'zoneinfo', 'locale'],
    },
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = `<!doctype html>${form}<button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>`;
        },
      },
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 3_600,
      IdToken: 600,
      Interaction: 3_600,
      Session: 3_600,
    },
    pkce: { required: () => true },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, ...accounts.get(sub) }),
    }),
    // Skips the consent page of the provider.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  const server = createServer((request, response) => void handle(request, response));
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen();
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { issuer, accounts, provider, start: listen, stop };
}

export type OpenIdProviderServer = Awaited<ReturnType<typeof startOpenIdProvider>>;
