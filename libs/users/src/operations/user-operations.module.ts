import { Module } from '@nestjs/common';
import { ConsoleOperatorService } from './operators/console-operator.service.js';
import { UserService } from './user.service.js';

const SERVICES = [ConsoleOperatorService, UserService];

@Module({ providers: SERVICES, exports: SERVICES })
export class UserOperationsModule {}
