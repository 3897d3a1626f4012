import { Module } from '@nestjs/common';
import { ConsentPreview } from './consent-preview.service.js';
import { ConsentService } from './consent.service.js';

@Module({ providers: [ConsentPreview, ConsentService], exports: [ConsentService] })
export class ConsentModule {}
