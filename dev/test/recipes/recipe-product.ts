import { ClientStore, type NewClient } from '#database/client/client.store.js';
import { generateClientSecret } from '#oauth/client.js';
import { allow } from '../allow.js';
import { type RunningProduct, startProduct, withStores } from '../running-product.js';
import { TlsFront } from './tls-front.js';

const REDIRECT_URI = 'https://app.example.com/callback';
export const SCOPE = 'profile:read bookings:read';

const DECLINED = ['allow:bookings:read'];

/** The product behind TLS, for recipes that run as in production. */
export class RecipeProduct {
  private constructor(
    readonly front: TlsFront,
    private readonly product: RunningProduct,
    /** http origins by the https origins that lead there. */
    private readonly behind: ReadonlyMap<string, string>,
  ) {}

  static async start(): Promise<RecipeProduct> {
    const front = await TlsFront.create();
    const behind = new Map<string, string>();
    const product = await startProduct({}, {}, async (port) => {
      const origin = await front.to(port);
      behind.set(origin, `http://127.0.0.1:${port}`);
      return origin;
    });
    return new RecipeProduct(front, product, behind);
  }

  get email(): string {
    return this.product.run.user.email;
  }

  get databaseUrl(): string {
    return this.product.databaseUrl;
  }

  /** For the test itself, which does not trust the certificates. */
  get apiUrl(): string {
    return this.reach(new URL(this.product.run.api_url)).origin;
  }

  /** The user allows everything but the optional scope. @returns the address at the application */
  allow(authorizationUrl: string): Promise<URL> {
    return allow(this.product.run, authorizationUrl, DECLINED, (url) => this.reach(url));
  }

  /** Registers an application, with one optional scope. @returns the variables of a recipe */
  async register(
    type: NewClient['type'] = 'confidential',
    redirectUri = REDIRECT_URI,
  ): Promise<Record<string, string>> {
    const { secret, hash } = generateClientSecret();
    const { clientId } = await withStores(this.product.databaseUrl, (stores) =>
      stores.get(ClientStore).create({
        name: 'Recipe',
        type,
        redirectUris: [redirectUri],
        scopes: SCOPE.split(' '),
        optionalScopes: ['bookings:read'],
        ...(type === 'confidential' && { secretHash: hash }),
      }),
    );
    const { auth_url, base_url, api_url } = this.product.run;
    return {
      AUTHORIZATION_URL: `${auth_url}/auth/oauth2/authorize`,
      TOKEN_URL: `${base_url}/api/auth/oauth/token`,
      ISSUER: base_url,
      API_URL: api_url,
      CLIENT_ID: clientId,
      ...(type === 'confidential' && { CLIENT_SECRET: secret }),
      REDIRECT_URI: redirectUri,
      SESSION_SECRET: 'a secret of this test, longer than 32 characters',
    };
  }

  /** An environment in which every language trusts the certificates, and uses no proxy. */
  environment(settings: Readonly<Record<string, string>>, base = process.env): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _ofJest, ...env } = base;
    const { authority } = this.front;
    return {
      ...env,
      no_proxy: '*',
      NO_PROXY: '*',
      NODE_EXTRA_CA_CERTS: authority,
      SSL_CERT_FILE: authority,
      REQUESTS_CA_BUNDLE: authority,
      MOJO_CA_FILE: authority,
      CURL_CA_BUNDLE: authority,
      ...settings,
    };
  }

  async close(): Promise<void> {
    await this.product.close();
    await this.front.close();
  }

  private reach(url: URL): URL {
    return new URL(url.pathname + url.search, this.behind.get(url.origin) ?? url.origin);
  }
}
