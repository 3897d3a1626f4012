import { type DynamicModule, Module } from '@nestjs/common';
import { Readiness } from '../health/readiness.js';
import { Metrics } from '../telemetry/metrics.js';
import type { Tracing } from '../telemetry/tracing.js';

/** What a process has before it has modules, because the internal port tells of it while they are still made. */
export interface Ground {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** Absent when nobody asked for it. */
  readonly tracing?: Tracing;
}

/** Offers the ground to every module of an app. */
@Module({})
export class GroundModule {
  static under(app: DynamicModule, { readiness, metrics }: Ground): DynamicModule {
    return {
      module: GroundModule,
      global: true,
      imports: [app],
      providers: [
        { provide: Readiness, useValue: readiness },
        { provide: Metrics, useValue: metrics },
      ],
      exports: [Readiness, Metrics],
    };
  }
}
