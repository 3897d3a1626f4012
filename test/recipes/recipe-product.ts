import { ClientStore, type NewClient } from '#clients/client.store.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { Browser } from '../support/browser.js';
import { withDatabase } from '../support/test-database.js';
import { type RunningProduct, startProduct, withStores } from '../end-to-end/running-product.js';

const REDIRECT_URI = 'https://app.example.com/callback';
export const SCOPE = 'profile:read bookings:read';

const DECLINED = ['allow:bookings:read'];

export class RecipeProduct {
  private constructor(private readonly product: RunningProduct) {}

  static async start(): Promise<RecipeProduct> {
    return new RecipeProduct(await startProduct());
  }

  get user(): { email: string; password: string } {
    return this.product.run.user;
  }

  get email(): string {
    return this.user.email;
  }

  get databaseUrl(): string {
    return this.product.databaseUrl;
  }

  get apiUrl(): string {
    return this.product.run.api_url;
  }

  /** Allows all scopes except the optional one. @returns the redirect to the application */
  allow(authorizationUrl: string, browser = new Browser('')): Promise<URL> {
    return browser.allow(authorizationUrl, this.user, DECLINED);
  }

  /** Marks the user's email address as verified. @returns the user's `sub` */
  async verifyEmail(): Promise<string> {
    const statement = 'UPDATE users SET email_verified = true WHERE email = $1 RETURNING id';
    const { rows } = await withDatabase(this.databaseUrl, (client) =>
      client.query<{ id: string }>(statement, [this.email]),
    );
    return String(rows[0]?.id);
  }

  /** Registers a client. @returns environment variables for its recipe */
  async register(
    type: NewClient['type'] = 'confidential',
    redirectUri = REDIRECT_URI,
    registration: Partial<NewClient> = {},
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
        ...registration,
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

  /** Returns an environment that bypasses proxies. */
  environment(settings: Readonly<Record<string, string>>, base = process.env): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _ofJest, ...env } = base;
    return { ...env, no_proxy: '*', NO_PROXY: '*', ...settings };
  }

  close(): Promise<void> {
    return this.product.close();
  }
}
