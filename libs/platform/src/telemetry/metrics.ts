import { Counter, Histogram, type Metric, Registry } from 'prom-client';

/** Seconds; from an answer out of memory to the time-outs of what is called. */
export const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * What this process counts and measures, for Prometheus. Labels hold only what there are few of: never a client, a
 * user, a path as it came, or anything else that a caller chooses.
 */
export class Metrics {
  readonly registry = new Registry();

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return this.once(name, () => new Counter({ name, help, labelNames, registers: [this.registry] }));
  }

  histogram<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    const options = { name, help, labelNames, buckets: DURATION_BUCKETS, registers: [this.registry] };
    return this.once(name, () => new Histogram(options));
  }

  private once<M extends Metric>(name: string, make: () => M): M {
    return (this.registry.getSingleMetric(name) as M | undefined) ?? make();
  }
}
