import { Module } from '@nestjs/common';
import { HealthModule } from '../health/health.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { OverviewController } from './overview.controller.js';
import { UsageTask } from './usage.task.js';

@Module({ imports: [HealthModule, JobsModule], controllers: [OverviewController], providers: [UsageTask] })
export class OverviewModule {}
