import { Gauge } from 'prom-client';
import type { Readiness } from '../health/readiness.js';
import type { Metrics } from './metrics.js';

/** Says of each dependency whether it answers, asked whenever Prometheus asks. */
export function measureDependencies(metrics: Metrics, readiness: Readiness): void {
  const gauge: Gauge<'dependency'> = new Gauge({
    name: 'oauth_dependency_up',
    help: 'Whether the dependency answers: 1 or 0',
    labelNames: ['dependency'],
    registers: [metrics.registry],
    async collect() {
      const missing = new Set(await readiness.missing());
      for (const dependency of readiness.names) gauge.set({ dependency }, missing.has(dependency) ? 0 : 1);
    },
  });
}
