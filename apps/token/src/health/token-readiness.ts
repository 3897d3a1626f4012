import { Injectable } from '@nestjs/common';
import { DirectoryHealthStore } from '#database/connection/database-health.store.js';
import { Readiness } from '#platform/health/readiness.js';

/** What the token app cannot serve without. Redis registers itself. */
@Injectable()
export class TokenReadiness {
  constructor(readiness: Readiness, directory: DirectoryHealthStore) {
    readiness.add('postgres', () => directory.ping());
    readiness.add('migrations', () => directory.migrated());
  }
}
