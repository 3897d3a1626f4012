import { Module } from '@nestjs/common';
import { RequestsModule } from '../requests/requests.module.js';
import { ConsoleLoginCookie } from '../session/session.cookie.js';
import { SessionModule } from '../session/session.module.js';
import { LoginController } from './login.controller.js';
import { OpenIdLogin } from './openid-login.service.js';

@Module({
  imports: [RequestsModule, SessionModule],
  controllers: [LoginController],
  providers: [ConsoleLoginCookie, OpenIdLogin],
})
export class LoginModule {}
