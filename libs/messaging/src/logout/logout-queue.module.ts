import { type DynamicModule, Module } from '@nestjs/common';
import { CLOCK, type Clock } from '#platform/clock.js';
import { StatusReport } from '#platform/status/status-report.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { LogoutPublisher, type LogoutPublisherOptions } from './logout-publisher.js';

@Module({})
export class LogoutQueueModule {
  constructor(publisher: LogoutPublisher, status: StatusReport) {
    if (publisher.isEnabled) status.register('logouts', () => publisher.state);
  }

  static forRoot(options: LogoutPublisherOptions): DynamicModule {
    const provider = {
      provide: LogoutPublisher,
      inject: [Metrics, CLOCK],
      useFactory: (metrics: Metrics, clock: Clock) => new LogoutPublisher(options, metrics, clock),
    };
    return { module: LogoutQueueModule, global: true, providers: [provider], exports: [LogoutPublisher] };
  }
}
