import { Module } from '@nestjs/common';
import { SessionModule } from '../session/session.module.js';
import { JobActions } from './job-actions.js';
import { JobRunner } from './job.runner.js';
import { JobStore } from './job.store.js';
import { JobsController } from './jobs.controller.js';

@Module({
  imports: [SessionModule],
  controllers: [JobsController],
  providers: [JobActions, JobRunner, JobStore],
  exports: [JobStore],
})
export class JobsModule {}
