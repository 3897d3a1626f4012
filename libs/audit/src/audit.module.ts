import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { StatusReport } from '#platform/status/status-report.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { AuditPublisher, type AuditPublisherOptions } from './publisher.js';
import { recordRequests } from './request-events.js';

/** Provides the process's publisher of the audit trail, and records its requests. */
@Module({})
export class AuditModule implements OnModuleInit {
  constructor(
    private readonly adapter: HttpAdapterHost,
    private readonly publisher: AuditPublisher,
    status: StatusReport,
  ) {
    status.register('audit', () => publisher.state);
  }

  static forRoot(options: AuditPublisherOptions): DynamicModule {
    const provider = {
      provide: AuditPublisher,
      inject: [Metrics],
      useFactory: (metrics: Metrics) => new AuditPublisher(options, metrics),
    };
    return { module: AuditModule, global: true, providers: [provider], exports: [AuditPublisher] };
  }

  /** Before the routes are registered. */
  onModuleInit(): void {
    recordRequests(this.adapter.httpAdapter.getInstance<FastifyInstance>(), this.publisher);
  }
}
