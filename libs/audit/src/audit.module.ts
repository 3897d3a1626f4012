import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { RequestObservers } from '#platform/http/request-hooks.js';
import { StatusReport } from '#platform/status/status-report.js';
import { startLogExport } from '#platform/telemetry/start-telemetry.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { AuditPublisher, type AuditPublisherOptions } from './publisher.js';
import { callerOf, keepAddresses, requestEvents } from './request-events.js';

interface AuditModuleOptions extends AuditPublisherOptions {
  readonly clientAddress: string;
}

const CLIENT_ADDRESS = Symbol('AUDIT_CLIENT_ADDRESS');

@Module({})
export class AuditModule implements OnModuleInit {
  constructor(
    private readonly adapter: HttpAdapterHost,
    private readonly observers: RequestObservers,
    private readonly publisher: AuditPublisher,
    @Inject(CLIENT_ADDRESS) private readonly clientAddress: string,
    status: StatusReport,
  ) {
    status.register('audit', () => publisher.state);
  }

  static forRoot({ clientAddress, ...options }: AuditModuleOptions): DynamicModule {
    const provider = {
      provide: AuditPublisher,
      inject: [Metrics],
      useFactory: async (metrics: Metrics) =>
        new AuditPublisher(options, metrics, await startLogExport(options.service, process.env)),
    };
    return {
      module: AuditModule,
      global: true,
      providers: [provider, { provide: CLIENT_ADDRESS, useValue: clientAddress }],
      exports: [AuditPublisher],
    };
  }

  /** Hooks must be registered before the routes. */
  onModuleInit(): void {
    const hasAddress = this.clientAddress === 'true';
    this.observers.add(requestEvents(this.publisher, hasAddress ? callerOf : null));
    if (hasAddress) keepAddresses(this.adapter.httpAdapter.getInstance<FastifyInstance>());
  }
}
