import { Module } from '@nestjs/common';
import { GrantService } from './grant.service.js';

const SERVICES = [GrantService];

@Module({ providers: SERVICES, exports: SERVICES })
export class GrantOperationsModule {}
