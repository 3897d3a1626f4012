import { Module } from '@nestjs/common';
import { RunningReports } from './concurrency-limit.interceptor.js';
import { Idempotency } from './idempotency.service.js';
import { RateLimits } from './rate-limit.js';

@Module({
  providers: [Idempotency, RateLimits, RunningReports],
  exports: [Idempotency, RateLimits, RunningReports],
})
export class RequestLimitsModule {}
