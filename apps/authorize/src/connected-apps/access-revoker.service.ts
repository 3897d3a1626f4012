import { Injectable } from '@nestjs/common';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { GrantStore } from '#grants/grant.store.js';
import { DEFAULT_LIFETIMES, grantTtl } from '#grants/lifetimes.js';
import { countTransitions } from '#platform/telemetry/count.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { RevocationPublisher } from './revocation.publisher.js';
import { UnfinishedRevocationError } from './unfinished-revocation.error.js';

export interface AccessRevocation {
  /** How many grants it was about, with those of the last ten minutes. */
  readonly grants: number;
  /** Whether every process was told; else what was cached of the grants is good for 30 s at most. */
  readonly announced: boolean;
}

/** At once: each is a command in Redis. */
const BATCH = 500;

/**
 * Takes back what a user allowed, as DESIGN 3 wants every revocation: first durably, then in Redis, then in everybody's
 * cache. Every method throws UnfinishedRevocationError when only the first is done; calling again does the rest.
 */
@Injectable()
export class AccessRevoker {
  private readonly count: (transition: string) => void;

  constructor(
    private readonly records: GrantRecordStore,
    private readonly grants: GrantStore,
    private readonly publisher: RevocationPublisher,
    private readonly configuration: AuthorizeConfiguration,
    metrics: Metrics,
  ) {
    this.count = countTransitions(metrics, ['revoked']);
  }

  /** Every grant of a user to one client. */
  async revoke(userId: number, clientId: string): Promise<AccessRevocation> {
    return this.carryOut(await this.records.revokeOf(userId, clientId));
  }

  /** Every grant of a user. */
  async revokeAll(userId: number): Promise<AccessRevocation> {
    return this.carryOut(await this.records.revokeAllOf(userId));
  }

  /** What follows from the end of these grants, once that is recorded. */
  async carryOut(ids: readonly string[]): Promise<AccessRevocation> {
    const { REFRESH_TOKEN_LIFETIME: refreshToken, CLOCK_SKEW: clockSkew } = this.configuration;
    const ttl = grantTtl({ ...DEFAULT_LIFETIMES, refreshToken, clockSkew });
    let failure: UnfinishedRevocationError | undefined;
    for (let start = 0; start < ids.length && !failure; start += BATCH) {
      const batch = ids.slice(start, start + BATCH);
      const applied = await Promise.allSettled(batch.map((id) => this.grants.revoke(id, ttl)));
      for (const _ of batch) this.count('revoked');
      const failed = applied.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') failure = new UnfinishedRevocationError(failed.reason);
    }
    // Once for all: waiting for a silent NATS after every batch would leave the tokens of the last alive for as long.
    // Also when Redis failed: whoever has the token in its cache has to ask, and is not let through.
    const announced = ids.length === 0 || (await this.publisher.publish(ids));
    if (failure) throw failure;
    return { grants: ids.length, announced };
  }
}
