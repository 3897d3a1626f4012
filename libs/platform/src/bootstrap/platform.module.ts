import { type DynamicModule, Module } from '@nestjs/common';
import { Readiness } from '../health/readiness.js';
import { RequestObservers } from '../http/request-hooks.js';
import { StatusReport } from '../status/status-report.js';
import { Metrics } from '../telemetry/metrics.js';

/** Created before the app's modules, because the internal port serves readiness and metrics while the app starts. */
export interface Instruments {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
}

@Module({})
export class PlatformModule {
  static forRoot({
    readiness,
    metrics,
    status,
    observers,
  }: Partial<Instruments & { status: StatusReport; observers: RequestObservers }> = {}): DynamicModule {
    return {
      module: PlatformModule,
      global: true,
      providers: [
        { provide: Readiness, useValue: readiness ?? new Readiness() },
        { provide: Metrics, useValue: metrics ?? new Metrics() },
        { provide: StatusReport, useValue: status ?? new StatusReport() },
        { provide: RequestObservers, useValue: observers ?? new RequestObservers() },
      ],
      exports: [Readiness, Metrics, StatusReport, RequestObservers],
    };
  }
}
