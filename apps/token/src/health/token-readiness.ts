import { Injectable } from '@nestjs/common';
import { DatabaseHealth } from '#database/connection/database-health.js';
import { Readiness } from '#platform/health/readiness.js';

/** What the token app cannot serve without. Redis registers itself. */
@Injectable()
export class TokenReadiness {
  constructor(readiness: Readiness, database: DatabaseHealth) {
    readiness.register('postgres', () => database.ping());
    readiness.register('migrations', () => database.migrated());
  }
}
