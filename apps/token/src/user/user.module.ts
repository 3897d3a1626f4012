import { Module } from '@nestjs/common';
import { UserChangeService } from './user-change.service.js';
import { UserResponder } from './user.responder.js';

@Module({ controllers: [UserResponder], providers: [UserChangeService] })
export class UserModule {}
