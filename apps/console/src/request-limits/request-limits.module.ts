import { Module } from '@nestjs/common';
import { RunningReports } from './concurrency-limit.interceptor.js';

@Module({ providers: [RunningReports], exports: [RunningReports] })
export class RequestLimitsModule {}
