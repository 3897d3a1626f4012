import { Inject, Injectable } from '@nestjs/common';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import {
  LoginProvider,
  type LoginStart,
  type LogoutTokenRules,
  type StartedLogin,
} from '../external-login/login-provider.js';
import { LoginChallenges } from './login-challenge.js';
import { PRODUCT_ALGORITHMS, PRODUCT_KEYS, type ProductKeys } from '../configuration/product-keys.js';

@Injectable()
export class JwtLoginProvider extends LoginProvider {
  constructor(
    private readonly configuration: AuthorizeConfiguration,
    private readonly challenges: LoginChallenges,
    @Inject(PRODUCT_KEYS) private readonly keys: ProductKeys,
  ) {
    super();
  }

  /** Sends no return URL, because a product that trusted such a parameter would be an open redirector. */
  async start({
    state,
    application,
    prompt,
    maxAge,
    loginHint,
    uiLocales,
  }: LoginStart): Promise<StartedLogin> {
    const location = new URL(this.configuration.LOGIN_URL);
    const challenge = await this.challenges.issue({
      jti: state,
      client_name: application ?? undefined,
      prompt: prompt.join(' ') || undefined,
      max_age: maxAge ?? undefined,
      login_hint: loginHint ?? undefined,
      ui_locales: uiLocales ?? undefined,
    });
    location.searchParams.set('challenge', challenge);
    return { location: location.href, details: {} };
  }

  /** The product has no log-out URL, so the user stays logged in there. */
  logoutUrl(): Promise<null> {
    return Promise.resolve(null);
  }

  /** Requires an explicit type (RFC 8725 3.11), because the product signs assertions with the same keys. */
  logoutTokenRules(): Promise<LogoutTokenRules> {
    const { AUTH_URL: audience } = this.configuration;
    return Promise.resolve({ keys: this.keys, audience, algorithms: PRODUCT_ALGORITHMS, typ: 'logout+jwt' });
  }
}
