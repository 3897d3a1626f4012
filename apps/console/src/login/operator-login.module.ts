import { Module } from '@nestjs/common';
import { OperatorSessionModule } from '../session/operator-session.module.js';
import { LoginController } from './login.controller.js';
import { OperatorLoginService } from './operator-login.service.js';

@Module({
  imports: [OperatorSessionModule],
  controllers: [LoginController],
  providers: [OperatorLoginService],
})
export class OperatorLoginModule {}
