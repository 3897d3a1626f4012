import { Inject, Injectable, Logger } from '@nestjs/common';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { GrantStore } from '#grants/grant.store.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { OAuthError } from '#service/oauth/oauth-error.js';
import type { IncomingRequest } from '../authorize/incoming-request.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { CLOCK, type Clock } from '../clock.js';
import { AccessRevoker } from '../grant/access-revoker.service.js';
import { ConsentEndedError } from './consent-ended.error.js';
import { declinedNow } from './remembered-consent.js';

/** Turns a user's yes into a grant. */
@Injectable()
export class ConsentService {
  readonly #logger = new Logger(ConsentService.name);

  constructor(
    private readonly issuer: TokenIssuer,
    private readonly records: GrantRecordStore,
    private readonly grants: GrantStore,
    private readonly revoker: AccessRevoker,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Records what the user allowed and makes the code for it. PostgreSQL comes first: a code whose permission is not
   * durable must not exist. Each call is a grant of its own, so that a double click does no harm.
   *
   * What the user allowed once and declines now ends with the older grants that hold it. They would outlive the
   * decision else: their tokens go on, and once the client has revoked the newer grant they would be what counts.
   *
   * @param scope what of the request the user allows
   * @param carriesOn whether the user allowed it before and was not asked now
   * @throws OAuthError when the client was deleted since its request was checked
   * @throws UnfinishedRevocationError when Redis did not hear what ended; nothing is allowed then
   * @throws ConsentEndedError when what is carried on has ended since
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
    const declined = carriesOn ? [] : declinedNow(request.asked, scope);
    const now = this.clock();
    const { code, grantId } = this.issuer.code(now);
    const authorization = { clientId: client.clientId, userId, scope };
    const expiresAt = new Date(now + REFRESH_TOKEN_LIFETIME * 1000);
    const record = { id: grantId, ...authorization, askedScope, expiresAt, carriesOn };
    if (!(await this.records.create(record))) {
      if (carriesOn) throw new ConsentEndedError();
      throw OAuthError.invalidRequest('the application is not registered any more', {
        detail: { check: 'client', client_id: client.clientId },
      });
    }
    const pending = { ...authorization, redirectUri, challenge, jkt };
    try {
      // After the record: there is no moment at which no decision of the user's stands.
      if (declined.length > 0) await this.revoker.revokeWith(declined, userId, client.clientId);
      await this.grants.create(grantId, pending, now, CODE_LIFETIME + CLOCK_SKEW);
    } catch (error) {
      await this.#withdraw(grantId);
      throw error;
    }
    return { code, grantId };
  }

  /** A permission whose code nobody got is none. Left behind it is harmless, and expires. */
  async #withdraw(grantId: string): Promise<void> {
    try {
      await this.records.withdraw(grantId);
    } catch (error) {
      this.#logger.warn(`a grant without a code was not withdrawn: ${(error as Error).message}`);
    }
  }
}
