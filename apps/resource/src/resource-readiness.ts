import { Injectable } from '@nestjs/common';
import { TokenServiceConnection } from '#introspection/token-service.connection.js';
import { Readiness } from '#service/health/readiness.js';

/** What the resource app cannot serve without. */
@Injectable()
export class ResourceReadiness {
  constructor(readiness: Readiness, nats: TokenServiceConnection) {
    readiness.add('nats', () => nats.ping());
  }
}
