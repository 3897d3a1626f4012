import { Injectable } from '@nestjs/common';
import { TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { Readiness } from '#platform/health/readiness.js';

/** What the resource app cannot serve without. */
@Injectable()
export class ResourceReadiness {
  constructor(readiness: Readiness, nats: TokenServiceConnection) {
    readiness.add('nats', () => nats.ping());
  }
}
