import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { EventStreamStore } from '#events/event-stream.store.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { Metrics } from '#platform/telemetry/metrics.js';

const OUTCOMES = ['delivered', 'refused', 'failed', 'expired', 'excluded'] as const;
type Outcome = (typeof OUTCOMES)[number];

@Injectable()
export class EventCounter {
  private readonly events: Counter<'outcome'>;

  constructor(metrics: Metrics, streams: EventStreamStore, keys: SigningKeys) {
    this.events = metrics.counter(
      'oauth_events_total',
      'Security events: delivered, refused by the receiver, failed and to be repeated, expired after a week, or excluded by the receiver',
      ['outcome'],
    );
    for (const outcome of OUTCOMES) this.events.inc({ outcome }, 0);
    if (keys.isEmpty) return;
    // NaN if PostgreSQL does not answer, because an old value would hide the failure.
    metrics.measure(
      'oauth_event_streams_paused',
      'Streams that the service has paused, because their receivers have failed for a day',
      () => streams.countPaused().catch(() => Number.NaN),
    );
  }

  count(outcome: Outcome, events = 1): void {
    this.events.inc({ outcome }, events);
  }
}
