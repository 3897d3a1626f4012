import { Injectable } from '@nestjs/common';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { GrantEngine } from '#grants/grant-engine.js';

/** At once: each is a command in Redis. */
const BATCH = 500;

/** Makes Redis, and every cache, know what PostgreSQL says is revoked: who recorded it may not have come so far. */
@Injectable()
export class RevocationReplay {
  /** Grants of the last pass that this Redis knows as revoked: passes overlap. */
  private applied = new Set<string>();

  constructor(
    private readonly records: GrantRecordStore,
    private readonly engine: GrantEngine,
  ) {}

  /** What was applied may be lost: a pass that is under way ends, and the next one applies all of it again. */
  forget(): void {
    this.applied = new Set();
  }

  /**
   * Applies the revocations of the last `age()` milliseconds, newest first, but for those of the last pass; only one pass at a
   * time. What fails holds up nothing else: a part of Redis may be away. What is applied then is not applied again.
   *
   * @param announce whether also what Redis knew already is broadcast
   * @returns how many Redis did not know
   * @throws what the first that failed threw, when all was tried
   */
  async pass(age: () => number, announce: 'always' | 'when_applied'): Promise<number> {
    const applied = this.applied;
    const met = new Set<string>();
    let changed = 0;
    let failure: Error | undefined;
    for await (const page of this.records.revokedWithin(age)) {
      for (const id of page) met.add(id);
      const due = page.filter((id) => !applied.has(id));
      for (let start = 0; start < due.length; start += BATCH) {
        if (this.applied !== applied) return changed;
        const outcome = await this.apply(due.slice(start, start + BATCH), applied, announce);
        changed += outcome.changed;
        failure ??= outcome.failure;
      }
    }
    if (failure) throw failure;
    if (this.applied === applied) this.applied = met;
    return changed;
  }

  private async apply(
    ids: readonly string[],
    applied: Set<string>,
    announce: 'always' | 'when_applied',
  ): Promise<{ changed: number; failure: Error | undefined }> {
    let changed = 0;
    const outcomes = await Promise.allSettled(
      ids.map(async (id) => {
        if (await this.engine.repeatRevocation(id, announce)) changed++;
        applied.add(id);
      }),
    );
    const failed = outcomes.find(({ status }) => status === 'rejected');
    return { changed, failure: failed?.status === 'rejected' ? (failed.reason as Error) : undefined };
  }
}
