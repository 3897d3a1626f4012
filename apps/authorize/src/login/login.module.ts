import { Module } from '@nestjs/common';
import { AuthorizeModule } from '../authorize/authorize.module.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { LoginController } from './login.controller.js';
import { LoginService } from './login.service.js';
import { LogoutController } from './logout.controller.js';
import { PasswordGate } from './password-gate.js';
import { PasswordService } from './password.service.js';
import { DeviceCookie } from './throttle/device-cookie.js';
import { LoginThrottle } from './throttle/login-throttle.service.js';
import { ThrottleStore } from './throttle/throttle.store.js';

@Module({
  imports: [AuthorizeModule, SessionModule, UiModule],
  controllers: [LoginController, LogoutController],
  providers: [
    LoginService,
    PasswordService,
    { provide: PasswordGate, useValue: new PasswordGate() },
    LoginThrottle,
    ThrottleStore,
    DeviceCookie,
  ],
})
export class LoginModule {}
