import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import type { Delivery } from '#events/event-stream.entity.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { Metrics } from '#platform/telemetry/metrics.js';

const OUTCOMES = ['delivered', 'refused', 'failed', 'expired', 'excluded'] as const;
type Outcome = (typeof OUTCOMES)[number];
const DELIVERIES: readonly Delivery[] = ['push', 'poll', 'logout'];

@Injectable()
export class EventCounter {
  private readonly events: Counter<'outcome' | 'delivery'>;

  constructor(metrics: Metrics, streams: EventStreamStore, keys: SigningKeys) {
    this.events = metrics.counter(
      'oauth_events_total',
      'Security events and logout tokens: delivered, refused by the receiver, failed and to be repeated, expired after a week, or excluded by the receiver',
      ['outcome', 'delivery'],
    );
    for (const outcome of OUTCOMES)
      for (const delivery of DELIVERIES) this.events.inc({ outcome, delivery }, 0);
    if (keys.isEmpty) return;
    // NaN if PostgreSQL does not answer, because an old value would hide the failure.
    metrics.measure(
      'oauth_event_streams_failing',
      'Streams whose latest attempt failed, and that are not paused yet',
      () => streams.countFailing().catch(() => Number.NaN),
    );
    metrics.measure(
      'oauth_event_streams_paused',
      'Streams that the service has paused, because their receivers have failed for a day',
      () => streams.countPaused().catch(() => Number.NaN),
    );
  }

  count(outcome: Outcome, delivery: Delivery, events = 1): void {
    this.events.inc({ outcome, delivery }, events);
  }
}
