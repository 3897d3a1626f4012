import { Module } from '@nestjs/common';
import { KeyRing } from '#grants/key-ring.js';
import { AuthorizeConfiguration, CLOCK, type Clock } from '../authorize.configuration.js';
import { AuthorizeModule } from '../authorize/authorize.module.js';
import { ExternalLoginController } from '../external-login/external-login.controller.js';
import { ExternalLoginService, LOGIN_VALIDITY } from '../external-login/external-login.service.js';
import { ExternalLogoutController } from '../external-login/external-logout.controller.js';
import { LoginCookie } from '../external-login/login-cookie.js';
import { LoginProvider } from '../external-login/login-provider.js';
import { LoginTransactionStore } from '../external-login/login-transaction.store.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { AssertionVerifier } from './assertion-verifier.js';
import { HandOverLoginController } from './hand-over-login.controller.js';
import { HandOverLoginService } from './hand-over-login.service.js';
import { HandOverProvider } from './hand-over.provider.js';
import { LoginChallenges } from './login-challenge.js';
import { configuredKeys, fetchedKeys } from './product-keys.js';

/** The login at the product's own login page, which hands the user over to us (docs/login.md). */
@Module({
  imports: [AuthorizeModule, SessionModule, UiModule],
  controllers: [ExternalLoginController, ExternalLogoutController, HandOverLoginController],
  providers: [
    ExternalLoginService,
    LoginCookie,
    LoginTransactionStore,
    HandOverLoginService,
    { provide: LoginProvider, useClass: HandOverProvider },
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
      provide: AssertionVerifier,
      inject: [AuthorizeConfiguration, CLOCK],
      useFactory: (configuration: AuthorizeConfiguration, clock: Clock) => {
        const { LOGIN_PUBLIC_KEY, LOGIN_JWKS_URL, AUTH_URL, CLOCK_SKEW, loginIssuer } = configuration;
        const keys =
          LOGIN_JWKS_URL === ''
            ? configuredKeys(LOGIN_PUBLIC_KEY)
            : fetchedKeys(LOGIN_JWKS_URL, configuration.dependencyTimeoutMs);
        const options = { issuer: loginIssuer, audience: AUTH_URL, clockSkew: CLOCK_SKEW, clock };
        return new AssertionVerifier(keys, options);
      },
    },
  ],
})
export class HandOverLoginModule {}
