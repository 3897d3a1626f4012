import { Module } from '@nestjs/common';
import { UserChangeService } from './user-change.service.js';
import { UserResponder } from './user.responder.js';

/** The users whom the product keeps up to date. */
@Module({ controllers: [UserResponder], providers: [UserChangeService] })
export class UserModule {}
