import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { Readiness } from '../health/readiness.js';

/** Seconds; from an answer out of memory to the timeouts of dependencies. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * What this process counts and measures, for Prometheus. Labels have few values: never a client, a user, a path as it was
 * sent, or anything else that a caller chooses.
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

/**
 * Counts the transitions of grants.
 *
 * @param transitions those that this process makes: each starts at 0, so that its first one is an increase
 */
export function countTransitions(
  metrics: Metrics,
  transitions: readonly string[],
): (transition: string) => void {
  const counter = metrics.counter('oauth_grant_transitions_total', 'Grants, by what happened to them', [
    'transition',
  ]);
  for (const transition of transitions) counter.inc({ transition }, 0);
  return (transition) => counter.inc({ transition });
}

/** Counts the lookups in a cache by their result: hit, miss and so on. */
export function countLookups(metrics: Metrics, cache: string): (result: string) => void {
  const counter = metrics.counter(
    'oauth_cache_lookups_total',
    'Lookups in a cache that broadcasts keep fresh, by their result',
    ['cache', 'result'],
  );
  const children = new Map<string, { inc(): void }>();
  return (result) => {
    let child = children.get(result);
    if (!child) children.set(result, (child = counter.labels({ cache, result })));
    child.inc();
  };
}

/** Reports for each dependency whether it answers, checked at each scrape. */
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
