import { Module } from '@nestjs/common';
import { IconController } from './icon.controller.js';
import { PageResponder } from './page.responder.js';

@Module({ controllers: [IconController], providers: [PageResponder], exports: [PageResponder] })
export class UiModule {}
