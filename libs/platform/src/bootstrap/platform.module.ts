import { type DynamicModule, Module } from '@nestjs/common';
import { Readiness } from '../health/readiness.js';
import { Metrics } from '../telemetry/metrics.js';

/** The internal port serves these before the app's modules exist. */
export interface Instruments {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
}

/** Provides readiness and metrics to every module of a process. */
@Module({})
export class PlatformModule {
  static forRoot({ readiness, metrics }: Partial<Instruments> = {}): DynamicModule {
    return {
      module: PlatformModule,
      global: true,
      providers: [
        { provide: Readiness, useValue: readiness ?? new Readiness() },
        { provide: Metrics, useValue: metrics ?? new Metrics() },
      ],
      exports: [Readiness, Metrics],
    };
  }
}
