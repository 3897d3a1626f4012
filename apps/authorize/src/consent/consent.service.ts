import { Inject, Injectable } from '@nestjs/common';
import { GrantRecordStore } from '#directory/grant-record.store.js';
import { GrantStore } from '#grants/grant.store.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import type { AuthorizationRequest } from '#authorization/authorization-request.js';
import { OAuthError } from '#service/oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { CLOCK, type Clock } from '../clock.js';

/** Turns a user's yes into a grant. */
@Injectable()
export class ConsentService {
  constructor(
    private readonly issuer: TokenIssuer,
    private readonly records: GrantRecordStore,
    private readonly grants: GrantStore,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Records what the user allowed and makes the code for it. PostgreSQL comes first: a code whose permission is not
   * durable must not exist. Each call is a grant of its own, so that a double click does no harm.
   *
   * @throws OAuthError when the client was deleted since its request was checked
   * @returns the code for the client, and the grant's id for the log
   */
  async allow(request: AuthorizationRequest, userId: number): Promise<{ code: string; grantId: string }> {
    const { client, scope, redirectUri, challenge, jkt } = request;
    const { CODE_LIFETIME, CLOCK_SKEW, REFRESH_TOKEN_LIFETIME } = this.configuration;
    const now = this.clock();
    const { code, grantId } = this.issuer.code(now);
    const authorization = { clientId: client.clientId, userId, scope };
    const expiresAt = new Date(now + REFRESH_TOKEN_LIFETIME * 1000);
    const recorded = await this.records.create({ id: grantId, ...authorization, expiresAt });
    if (!recorded)
      throw OAuthError.invalidRequest('the application is not registered any more', {
        detail: { check: 'client', client_id: client.clientId },
      });
    const pending = { ...authorization, redirectUri, challenge, jkt };
    await this.grants.create(grantId, pending, now, CODE_LIFETIME + CLOCK_SKEW);
    return { code, grantId };
  }
}
