import { INCOMING, onCalls, OUTGOING } from './calls.js';
import type { Metrics } from './metrics.js';

/**
 * Measures the calls of this process to Redis, PostgreSQL and NATS, and its answers over NATS. Names follow OpenTelemetry's
 * conventions for databases and messaging.
 */
export function measureCalls(metrics: Metrics): void {
  const database = metrics.histogram(
    'db_client_operation_duration_seconds',
    'How long Redis and PostgreSQL took to answer',
    ['db_system_name', 'db_operation_name', 'outcome'],
  );
  const requested = metrics.histogram(
    'messaging_client_operation_duration_seconds',
    'How long requests over NATS took to be answered',
    ['messaging_system', 'messaging_destination_name', 'outcome'],
  );
  const processed = metrics.histogram(
    'messaging_process_duration_seconds',
    'How long this process took to answer requests over NATS',
    ['messaging_system', 'messaging_destination_name', 'outcome'],
  );
  for (const channel of [...OUTGOING, INCOMING])
    onCalls(channel, ({ system, operation, target = '' }) => {
      const start = performance.now();
      return (failed) => {
        const seconds = (performance.now() - start) / 1000;
        const outcome = failed ? 'error' : 'ok';
        if (system === 'nats') {
          const histogram = channel === INCOMING ? processed : requested;
          const labels = { messaging_system: system, messaging_destination_name: target, outcome };
          histogram.observe(labels, seconds);
        } else {
          database.observe({ db_system_name: system, db_operation_name: operation, outcome }, seconds);
        }
      };
    });
}
