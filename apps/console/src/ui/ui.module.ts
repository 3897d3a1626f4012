import { Module } from '@nestjs/common';
import { PageResponder } from './page.responder.js';

@Module({ providers: [PageResponder], exports: [PageResponder] })
export class UiModule {}
