import { Module } from '@nestjs/common';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { AccountController } from './account.controller.js';

@Module({ imports: [SessionModule, UiModule], controllers: [AccountController] })
export class AccountModule {}
