import { Module } from '@nestjs/common';
import { RequestLimitsModule } from '../request-limits/request-limits.module.js';
import { SessionModule } from '../session/session.module.js';
import { LoginController } from './login.controller.js';
import { OpenIdLoginService } from './openid-login.service.js';

@Module({
  imports: [RequestLimitsModule, SessionModule],
  controllers: [LoginController],
  providers: [OpenIdLoginService],
})
export class LoginModule {}
