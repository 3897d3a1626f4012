import { Module } from '@nestjs/common';
import { ConsentPreviewService } from './consent-preview.service.js';
import { ConsentService } from './consent.service.js';

@Module({ providers: [ConsentPreviewService, ConsentService], exports: [ConsentService] })
export class ConsentModule {}
