import { Module } from '@nestjs/common';
import { RunningReports } from './concurrency-limit.interceptor.js';
import { IdempotencyService } from './idempotency.service.js';
import { RateLimits } from './rate-limit.js';

@Module({
  providers: [IdempotencyService, RateLimits, RunningReports],
  exports: [IdempotencyService, RateLimits, RunningReports],
})
export class RequestLimitsModule {}
