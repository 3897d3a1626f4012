import { Injectable } from '@nestjs/common';
import { TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { Readiness } from '#platform/health/readiness.js';

/** Apart from PostgreSQL's, which cannot be asked before it is connected. */
@Injectable()
export class NatsReadiness {
  constructor(readiness: Readiness, nats: TokenServiceConnection) {
    readiness.add('nats', () => nats.ping());
  }
}
