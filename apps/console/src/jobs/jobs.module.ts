import { Module } from '@nestjs/common';
import { OperatorSessionModule } from '../session/operator-session.module.js';
import { JobActions } from './job-actions.js';
import { JobRunner } from './job.runner.js';
import { JobStore } from './job.store.js';
import { JobsController } from './jobs.controller.js';

@Module({
  imports: [OperatorSessionModule],
  controllers: [JobsController],
  providers: [JobActions, JobRunner, JobStore],
  exports: [JobStore],
})
export class JobsModule {}
