import { Injectable } from '@nestjs/common';
import { Introspector } from '#introspection/introspector.js';
import { countLookups } from '#platform/telemetry/count.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { ProfileCache } from './me/profile-cache.js';

/** Counts how often tokens and profiles are known: without that each request is a round trip. */
@Injectable()
export class ResourceMetrics {
  constructor(metrics: Metrics, introspector: Introspector, profiles: ProfileCache) {
    introspector.observe(countLookups(metrics, 'tokens'));
    profiles.observe(countLookups(metrics, 'profiles'));
  }
}
