import { Module } from '@nestjs/common';
import { KeyService } from './key.service.js';

const SERVICES = [KeyService];

@Module({ providers: SERVICES, exports: SERVICES })
export class KeyOperationsModule {}
