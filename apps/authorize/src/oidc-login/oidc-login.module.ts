import { Module } from '@nestjs/common';
import { AuthorizeModule } from '../authorize/authorize.module.js';
import { BackChannelLogoutController } from '../external-login/back-channel-logout.controller.js';
import { BackChannelLogoutService } from '../external-login/back-channel-logout.service.js';
import { ExternalLoginController } from '../external-login/external-login.controller.js';
import { ExternalLoginService } from '../external-login/external-login.service.js';
import { ExternalLogoutController } from '../external-login/external-logout.controller.js';
import { LoginCookie } from '../external-login/login-cookie.js';
import { LoginProvider } from '../external-login/login-provider.js';
import { LoginTransactionStore } from '../external-login/login-transaction.store.js';
import { LogoutTokenStore } from '../external-login/logout-token.store.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { OidcLoginController } from './oidc-login.controller.js';
import { OidcLoginService } from './oidc-login.service.js';
import { OpenIdProvider } from './openid-provider.service.js';

@Module({
  imports: [AuthorizeModule, SessionModule, UiModule],
  controllers: [
    ExternalLoginController,
    ExternalLogoutController,
    OidcLoginController,
    BackChannelLogoutController,
  ],
  providers: [
    BackChannelLogoutService,
    ExternalLoginService,
    LoginCookie,
    LoginTransactionStore,
    LogoutTokenStore,
    OidcLoginService,
    OpenIdProvider,
    { provide: LoginProvider, useExisting: OpenIdProvider },
  ],
})
export class OidcLoginModule {}
