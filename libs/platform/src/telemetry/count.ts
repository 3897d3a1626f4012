import type { Metrics } from './metrics.js';

/**
 * Counts what happens to grants.
 *
 * @param transitions those that this process makes: each is there from 0 on, so that its first one is an increase
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

/** Counts how looks into a cache went. */
export function countLookups(metrics: Metrics, cache: string): (result: string) => void {
  const counter = metrics.counter(
    'oauth_cache_lookups_total',
    'Looks into a cache that broadcasts keep fresh, by how they went',
    ['cache', 'result'],
  );
  const children = new Map<string, { inc(): void }>();
  return (result) => {
    const child = children.get(result) ?? counter.labels({ cache, result });
    children.set(result, child);
    child.inc();
  };
}
