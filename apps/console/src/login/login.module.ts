import { Module } from '@nestjs/common';
import { SessionModule } from '../session/session.module.js';
import { LoginController } from './login.controller.js';
import { OperatorLoginService } from './operator-login.service.js';

@Module({ imports: [SessionModule], controllers: [LoginController], providers: [OperatorLoginService] })
export class LoginModule {}
