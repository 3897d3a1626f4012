import { Injectable } from '@nestjs/common';
import { countLookups, Metrics } from '#platform/telemetry/metrics.js';
import { ClientCache } from './client-cache.js';

/** Counts how often a client is known. */
@Injectable()
export class ClientCacheMetrics {
  constructor(metrics: Metrics, clients: ClientCache) {
    clients.observe(countLookups(metrics, 'clients'));
  }
}
