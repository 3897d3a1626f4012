import { Module } from '@nestjs/common';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { EXTERNAL_LOGIN } from '../external-login/external-login.metadata.js';
import { LoginProvider } from '../external-login/login-provider.js';
import { fetchedKeys } from '#platform/http/provider-keys.js';
import { AssertionVerifier } from './assertion-verifier.js';
import { JwtLoginController } from './jwt-login.controller.js';
import { JwtLoginService } from './jwt-login.service.js';
import { JwtLoginProvider } from './jwt-login.provider.js';
import { LoginChallenges } from './login-challenge.js';
import { configuredKeys, PRODUCT_KEYS } from '../configuration/product-keys.js';

/** Login at the product's own login page, which returns the user with a signed JWT (docs/login.md). */
@Module({
  imports: EXTERNAL_LOGIN.imports,
  controllers: [...EXTERNAL_LOGIN.controllers, JwtLoginController],
  providers: [
    ...EXTERNAL_LOGIN.providers,
    JwtLoginService,
    { provide: LoginProvider, useClass: JwtLoginProvider },
    LoginChallenges,
    AssertionVerifier,
    {
      provide: PRODUCT_KEYS,
      inject: [AuthorizeConfiguration],
      useFactory: ({ LOGIN_PUBLIC_KEY, LOGIN_JWKS_URL, dependencyTimeoutMs }: AuthorizeConfiguration) =>
        LOGIN_JWKS_URL === ''
          ? configuredKeys(LOGIN_PUBLIC_KEY)
          : fetchedKeys(LOGIN_JWKS_URL, dependencyTimeoutMs),
    },
  ],
})
export class JwtLoginModule {}
