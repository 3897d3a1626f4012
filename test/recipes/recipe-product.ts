import { ClientStore, type NewClient } from '#database/client/client.store.js';
import { generateClientSecret } from '#oauth/client.js';
import { allow } from '../end-to-end/use-product.js';
import { type RunningProduct, startProduct, withStores } from '../end-to-end/running-product.js';

const REDIRECT_URI = 'https://app.example.com/callback';
export const SCOPE = 'profile:read bookings:read';

const DECLINED = ['allow:bookings:read'];

/** The product at http://localhost, as `npm start` has it. */
export class RecipeProduct {
  private constructor(private readonly product: RunningProduct) {}

  static async start(): Promise<RecipeProduct> {
    return new RecipeProduct(await startProduct());
  }

  get email(): string {
    return this.product.run.user.email;
  }

  get databaseUrl(): string {
    return this.product.databaseUrl;
  }

  get apiUrl(): string {
    return this.product.run.api_url;
  }

  /** The user allows everything but the optional scope. @returns the address at the application */
  allow(authorizationUrl: string): Promise<URL> {
    return allow(this.product.run, authorizationUrl, DECLINED);
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

  /** An environment in which no language uses a proxy. */
  environment(settings: Readonly<Record<string, string>>, base = process.env): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _ofJest, ...env } = base;
    return { ...env, no_proxy: '*', NO_PROXY: '*', ...settings };
  }

  close(): Promise<void> {
    return this.product.close();
  }
}
