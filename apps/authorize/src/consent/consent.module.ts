import { Module } from '@nestjs/common';
import { ConsentService } from './consent.service.js';

/** What the user allows an application. */
@Module({ providers: [ConsentService], exports: [ConsentService] })
export class ConsentModule {}
