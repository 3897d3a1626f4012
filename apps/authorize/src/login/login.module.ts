import { Module } from '@nestjs/common';
import { AuthorizeModule } from '../authorize/authorize.module.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { LoginController } from './login.controller.js';
import { LoginService, PasswordLogout } from './login.service.js';
import { LogoutController } from '../logout/logout.controller.js';
import { LogoutModule } from '../logout/logout.module.js';
import { EndSessionController } from '../logout/end-session.controller.js';
import { LogoutContinuation, LogoutService } from '../logout/logout.service.js';
import { PasswordGate, PasswordService } from './password.service.js';
import { DeviceCookie } from './throttle/device-cookie.js';
import { LoginThrottleService } from './throttle/login-throttle.service.js';
import { ThrottleStore } from './throttle/throttle.store.js';

@Module({
  imports: [AuthorizeModule, LogoutModule, SessionModule, UiModule],
  controllers: [LoginController, EndSessionController, LogoutController],
  providers: [
    LoginService,
    PasswordService,
    { provide: PasswordGate, useValue: new PasswordGate() },
    LoginThrottleService,
    ThrottleStore,
    DeviceCookie,
    LogoutService,
    { provide: LogoutContinuation, useClass: PasswordLogout },
  ],
})
export class LoginModule {}
