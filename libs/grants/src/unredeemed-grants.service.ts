import { Inject, Injectable } from '@nestjs/common';
import { GrantRecordStore } from './records/grant-record.store.js';
import { UnredeemedGrantStore } from './records/unredeemed-grant.store.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { GrantStore } from './grant.store.js';
import { codeTtl, Lifetimes } from './lifetimes.js';

/**
 * Seconds after the expiry of a code, in which every process writes its recorded uses. Only a use whose process died in
 * this time, and whose grant Redis has lost, remains unknown.
 */
const RECORDING = 60;

/**
 * Finds out from Redis which recorded grants have no redeemed code (docs/adr/0049-unredeemed-codes.md). Such grants do
 * not count as access or consent.
 */
@Injectable()
export class UnredeemedGrantsService {
  constructor(
    private readonly unredeemed: UnredeemedGrantStore,
    private readonly records: GrantRecordStore,
    private readonly store: GrantStore,
    private readonly lifetimes: Lifetimes,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Ends the grants whose code has expired, and records the use of grants whose use was not recorded. */
  async settle(): Promise<void> {
    const day = new Date(this.clock()).toISOString().slice(0, 10);
    for await (const ids of this.unredeemed.olderThan(codeTtl(this.lifetimes) + RECORDING)) {
      // Sent together, as one pipeline.
      const states = await Promise.all(ids.map((id) => this.store.redemption(id)));
      const inState = (state: string) => ids.filter((_, at) => states[at] === state);
      await this.records.touch(inState('redeemed').map((id) => ({ id, day })));
      await this.unredeemed.end(inState('ended'));
    }
  }
}
