import { randomBytes } from 'node:crypto';
import request, { type Response } from 'supertest';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { ASSERTION_TYPE, ClientKey, keysOf } from '#test/support/client-key.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { openFixture, REDIRECT_URI } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import { startConsoleApp } from './start-console-app.js';

interface Call {
  /** Defaults to a token with every scope; null sends no token. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const ISSUER = 'https://base.example.com';

/** Starts a console with stored roles, and a token app, which issues and checks the tokens. */
export async function startAdminApi() {
  const services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  const proxy = await FaultProxy.start(services.redisUrl);
  const roles = { CONSOLE_GROUPS_CLAIM: '', CONSOLE_ROLES: '' };
  const console = await startConsoleApp(
    { REDIS_URL: proxy.url, OUTSIDE_FETCH_ALLOW: '127.0.0.1', ...roles },
    services,
  );
  const { CONSOLE_URL } = console.configuration;
  const environment = { ...appSettings(services), LOG_LEVEL: 'fatal', TOKEN_KEYS, CONSOLE_URL };
  const token: AppProcess = await startApp('token', environment);
  const fixture = await openFixture(services, TOKEN_KEYS);
  const key = await ClientKey.generate();

  const tokenRequest = async (parameters: Record<string, string>, url = token.url): Promise<string> => {
    const response = await fetch(`${url}/api/auth/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
    });
    const { access_token: accessToken = '' } = (await response.json()) as { access_token?: string };
    if (!response.ok) throw new Error(`no token: ${response.status}`);
    return accessToken;
  };

  /** Registers an API client. @returns its client_id and a token */
  const registerClient = async (scope = 'admin:read admin:write admin:operators') => {
    const { clientId } = await fixture.clients.create({
      name: 'Terraform',
      type: 'confidential',
      scopes: scope.split(' '),
      redirectUris: [],
      keys: keysOf(key),
      rules: { grantType: 'client_credentials' },
    });
    return { clientId, accessToken: await tokenOf(clientId) };
  };

  const tokenOf = async (clientId: string, url?: string) => {
    const assertion = await key.assertion(clientId, ISSUER);
    const credentials = { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
    return tokenRequest({ grant_type: 'client_credentials', ...credentials }, url);
  };

  const standard = await registerClient();

  return {
    console,
    /** Proxy between the console and Redis. */
    proxy,
    fixture,
    services,
    clientId: standard.clientId,
    registerClient,

    /** Sends a request. A POST has a new Idempotency-Key unless `headers` contains one. */
    async call(method: string, path: string, { token: given, headers, body }: Call = {}): Promise<Response> {
      const accessToken = given === undefined ? standard.accessToken : given;
      const sent = request(console.server)[method as 'get'](`/admin/v1${path}`);
      if (accessToken !== null) sent.set('Authorization', `Bearer ${accessToken}`);
      if (method === 'post') sent.set('Idempotency-Key', randomBytes(9).toString('base64url'));
      return sent.set({ ...headers }).send(body);
    },

    /** Returns a token for another console, issued to the client of `clientId`. */
    async tokenForOtherApi(): Promise<string> {
      const other = await startApp('token', { ...environment, CONSOLE_URL: 'http://localhost:3005' });
      const accessToken = await tokenOf(standard.clientId, other.url);
      await other.stop();
      return accessToken;
    },

    /** Returns the access token of a user. @param resources APIs for which it was requested */
    async tokenOfUser(resources?: string): Promise<string> {
      const client = await fixture.client();
      const scope = 'profile:read';
      const code = await fixture.code(client.client_id, await fixture.user(), {
        scope,
        ...(resources && { resources }),
      });
      return tokenRequest({ ...client, grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
    },

    async close(): Promise<void> {
      await console.close();
      await proxy.close();
      await token.stop();
      await fixture.close();
      await services.close();
    },
  };
}

export type AdminApi = Awaited<ReturnType<typeof startAdminApi>>;
