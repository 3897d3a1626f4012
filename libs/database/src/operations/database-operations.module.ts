import { Module } from '@nestjs/common';
import { MigrationService } from './migration.service.js';

const SERVICES = [MigrationService];

@Module({ providers: SERVICES, exports: SERVICES })
export class DatabaseOperationsModule {}
