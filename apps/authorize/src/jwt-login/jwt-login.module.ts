import { Module } from '@nestjs/common';
import { KeyRing } from '#keys/key-ring.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { EXTERNAL_LOGIN } from '../external-login/external-login.metadata.js';
import { LOGIN_VALIDITY } from '../external-login/external-login.service.js';
import { LoginProvider } from '../external-login/login-provider.js';
import { fetchedKeys } from '#platform/http/provider-keys.js';
import { AssertionVerifier } from './assertion-verifier.js';
import { JwtLoginController } from './jwt-login.controller.js';
import { JwtLoginService } from './jwt-login.service.js';
import { JwtLoginProvider } from './jwt-login.provider.js';
import { LoginChallenges } from './login-challenge.js';
import { configuredKeys, PRODUCT_KEYS, type ProductKeys } from '../configuration/product-keys.js';

/** Login at the product's own login page, which returns the user with a signed JWT (docs/login.md). */
@Module({
  imports: EXTERNAL_LOGIN.imports,
  controllers: [...EXTERNAL_LOGIN.controllers, JwtLoginController],
  providers: [
    ...EXTERNAL_LOGIN.providers,
    JwtLoginService,
    { provide: LoginProvider, useClass: JwtLoginProvider },
    {
      provide: LoginChallenges,
      inject: [AuthorizeConfiguration, KeyRing, CLOCK],
      useFactory: ({ AUTH_URL, loginIssuer }: AuthorizeConfiguration, keys: KeyRing, clock: Clock) =>
        new LoginChallenges(keys.challengeKeys, {
          issuer: AUTH_URL,
          audience: loginIssuer,
          lifetime: LOGIN_VALIDITY,
          clock,
        }),
    },
    {
      provide: PRODUCT_KEYS,
      inject: [AuthorizeConfiguration],
      useFactory: ({ LOGIN_PUBLIC_KEY, LOGIN_JWKS_URL, dependencyTimeoutMs }: AuthorizeConfiguration) =>
        LOGIN_JWKS_URL === ''
          ? configuredKeys(LOGIN_PUBLIC_KEY)
          : fetchedKeys(LOGIN_JWKS_URL, dependencyTimeoutMs),
    },
    {
      provide: AssertionVerifier,
      inject: [PRODUCT_KEYS, AuthorizeConfiguration, CLOCK],
      useFactory: (
        keys: ProductKeys,
        { AUTH_URL, CLOCK_SKEW, loginIssuer }: AuthorizeConfiguration,
        clock: Clock,
      ) =>
        new AssertionVerifier(keys, {
          issuer: loginIssuer,
          audience: AUTH_URL,
          clockSkew: CLOCK_SKEW,
          clock,
        }),
    },
  ],
})
export class JwtLoginModule {}
