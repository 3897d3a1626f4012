import { Module } from '@nestjs/common';
import { AuthorizeModule } from '../authorize/authorize.module.js';
import { BackChannelLogoutController } from '../external-login/back-channel-logout.controller.js';
import { BackChannelLogoutService } from '../external-login/back-channel-logout.service.js';
import { ExternalLoginController } from '../external-login/external-login.controller.js';
import { ExternalLoginService } from '../external-login/external-login.service.js';
import { ExternalLogout } from '../external-login/external-logout.js';
import { LoginCookie } from '../external-login/login-cookie.js';
import { LoginProvider } from '../external-login/login-provider.js';
import { LoginTransactionStore } from '../external-login/login-transaction.store.js';
import { LogoutTokenStore } from '../external-login/logout-token.store.js';
import { EndSessionController } from '../logout/end-session.controller.js';
import { LogoutContinuation } from '../logout/logout-continuation.js';
import { LogoutService } from '../logout/logout.service.js';
import { LogoutController } from '../logout/logout.controller.js';
import { LogoutModule } from '../logout/logout.module.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { OidcLoginController } from './oidc-login.controller.js';
import { OidcLoginService } from './oidc-login.service.js';
import { OpenIdProvider } from './openid-provider.service.js';

@Module({
  imports: [AuthorizeModule, LogoutModule, SessionModule, UiModule],
  controllers: [
    ExternalLoginController,
    EndSessionController,
    LogoutController,
    OidcLoginController,
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
    OidcLoginService,
    OpenIdProvider,
    { provide: LoginProvider, useExisting: OpenIdProvider },
  ],
})
export class OidcLoginModule {}
