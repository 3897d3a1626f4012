import { Inject, Injectable, Logger } from '@nestjs/common';
import { GrantRecordStore, type NewGrantRecord } from '#database/grant/grant-record.store.js';
import { GrantStore } from '#grants/grant.store.js';
import { RevocationService } from '#grants/revocation.service.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import type { IncomingRequest } from '../authorize/incoming-request.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { CLOCK, type Clock } from '../clock.js';
import { ConsentEndedError } from './consent-ended.error.js';
import { notIn } from './remembered-consent.js';

/** Turns a user's yes into a grant. */
@Injectable()
export class ConsentService {
  private readonly logger = new Logger(ConsentService.name);

  constructor(
    private readonly issuer: TokenIssuer,
    private readonly records: GrantRecordStore,
    private readonly grants: GrantStore,
    private readonly revocations: RevocationService,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Records what the user allowed and makes the code for it. PostgreSQL comes first: a code whose permission is not
   * durable must not exist. Each call is a grant of its own, so that a double click does no harm.
   *
   * What the user declines ends with the older grants that hold it, whether or not we know of a decision that allowed it:
   * an earlier try may have been recorded and never been answered.
   *
   * @param scope what of the request the user allows
   * @param carriesOn whether the user allowed it before and was not asked now
   * @throws UnfinishedRevocationError when Redis did not hear what ended; nothing is allowed then
   * @throws ConsentEndedError if, since the request was checked, the client was deleted, the user deleted or disabled, or
   *   the continued consent revoked
   * @returns the code for the client, and the grant's id for the log
   */
  async allow(
    request: IncomingRequest,
    userId: number,
    scope: string,
    carriesOn: boolean,
  ): Promise<{ code: string; grantId: string }> {
    const { client, scope: askedScope, redirectUri, challenge, jkt } = request;
    const { CODE_LIFETIME, CLOCK_SKEW, REFRESH_TOKEN_LIFETIME } = this.configuration;
    const now = this.clock();
    const { code, grantId } = this.issuer.code(now);
    const authorization = { clientId: client.clientId, userId, scope };
    const expiresAt = new Date(now + REFRESH_TOKEN_LIFETIME * 1000);
    const record = { id: grantId, ...authorization, askedScope, expiresAt, carriesOn };
    const ended = await this.orWithdraw(grantId, () => this.record(record, notIn(scope, askedScope)));
    if (ended === null) throw new ConsentEndedError();
    await this.orWithdraw(grantId, async () => {
      await this.revocations.apply(ended);
      const pending = { ...authorization, redirectUri, challenge, jkt };
      await this.grants.create(grantId, pending, now, CODE_LIFETIME + CLOCK_SKEW);
    });
    return { code, grantId };
  }

  /** @returns the grants that end with it; null when it is not recorded */
  private async record(
    record: NewGrantRecord,
    declined: readonly string[],
  ): Promise<readonly string[] | null> {
    if (declined.length > 0 && !record.carriesOn) return this.records.createDeclining(record, declined);
    return (await this.records.create(record)) ? [] : null;
  }

  /**
   * A permission whose code nobody got is none. An act that failed may have been done, as its answer can be lost. Left
   * behind it is harmless: what it ended has ended with it.
   */
  private async orWithdraw<T>(grantId: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      await this.records.withdraw(grantId).catch((reason: Error) => {
        this.logger.warn(`a grant without a code was not withdrawn: ${reason.message}`);
      });
      throw error;
    }
  }
}
