import { Module } from '@nestjs/common';
import { KeyRing } from '#grants/key-ring.js';
import { AuthorizeConfiguration, CLOCK, type Clock } from '../authorize.configuration.js';
import { AuthorizeModule } from '../authorize/authorize.module.js';
import { BackChannelLogoutController } from '../external-login/back-channel-logout.controller.js';
import { BackChannelLogoutService } from '../external-login/back-channel-logout.service.js';
import { ExternalLoginController } from '../external-login/external-login.controller.js';
import { ExternalLoginService, LOGIN_VALIDITY } from '../external-login/external-login.service.js';
import { ExternalLogout } from '../external-login/external-logout.js';
import { LoginCookie } from '../external-login/login-cookie.js';
import { LoginProvider } from '../external-login/login-provider.js';
import { LoginTransactionStore } from '../external-login/login-transaction.store.js';
import { LogoutTokenStore } from '../external-login/logout-token.store.js';
import { fetchedKeys } from '../external-login/provider-keys.js';
import { EndSessionController } from '../logout/end-session.controller.js';
import { LogoutContinuation } from '../logout/logout-continuation.js';
import { LogoutService } from '../logout/logout.service.js';
import { LogoutController } from '../logout/logout.controller.js';
import { LogoutModule } from '../logout/logout.module.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { AssertionVerifier } from './assertion-verifier.js';
import { JwtLoginController } from './jwt-login.controller.js';
import { JwtLoginService } from './jwt-login.service.js';
import { JwtLoginProvider } from './jwt-login.provider.js';
import { LoginChallenges } from './login-challenge.js';
import { configuredKeys, PRODUCT_KEYS, type ProductKeys } from './product-keys.js';

/** Login at the product's own login page, which returns the user with a signed JWT (docs/login.md). */
@Module({
  imports: [AuthorizeModule, LogoutModule, SessionModule, UiModule],
  controllers: [
    ExternalLoginController,
    EndSessionController,
    LogoutController,
    JwtLoginController,
    BackChannelLogoutController,
  ],
  providers: [
    BackChannelLogoutService,
    ExternalLoginService,
    LoginCookie,
    LoginTransactionStore,
    LogoutTokenStore,
    LogoutService,
    { provide: LogoutContinuation, useClass: ExternalLogout },
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
