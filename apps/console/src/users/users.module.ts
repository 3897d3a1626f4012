import { Module } from '@nestjs/common';
import { SessionModule } from '../session/session.module.js';
import { GrantsController } from './grants.controller.js';
import { UsersController } from './users.controller.js';

@Module({ imports: [SessionModule], controllers: [UsersController, GrantsController] })
export class UsersModule {}
