import { Module } from '@nestjs/common';
import { HealthModule } from '../health/health.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { OverviewController } from './overview.controller.js';

@Module({ imports: [HealthModule, JobsModule], controllers: [OverviewController] })
export class OverviewModule {}
