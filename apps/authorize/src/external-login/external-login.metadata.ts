import { AuthorizeModule } from '../authorize/authorize.module.js';
import { EndSessionController } from '../logout/end-session.controller.js';
import { LogoutContinuation, LogoutService } from '../logout/logout.service.js';
import { LogoutController } from '../logout/logout.controller.js';
import { LogoutModule } from '../logout/logout.module.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { BackChannelLogoutController } from './back-channel-logout.controller.js';
import { BackChannelLogoutService } from './back-channel-logout.service.js';
import { ExternalLoginController, LoginResponder } from './external-login.controller.js';
import { ExternalLoginService, ExternalLogout } from './external-login.service.js';
import { LoginTransactionStore } from './login-transaction.store.js';
import { LogoutTokenStore } from './logout-token.store.js';

export const EXTERNAL_LOGIN = {
  imports: [AuthorizeModule, LogoutModule, SessionModule, UiModule],
  controllers: [ExternalLoginController, EndSessionController, LogoutController, BackChannelLogoutController],
  providers: [
    BackChannelLogoutService,
    ExternalLoginService,
    LoginResponder,
    LoginTransactionStore,
    LogoutTokenStore,
    LogoutService,
    { provide: LogoutContinuation, useClass: ExternalLogout },
  ],
};
