import { Module } from '@nestjs/common';
import { UserChangeService } from './user-change.service.js';
import { UserChangeResponder } from './user-change.responder.js';

@Module({ controllers: [UserChangeResponder], providers: [UserChangeService] })
export class UserChangesModule {}
