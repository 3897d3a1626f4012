import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuditPublisher } from '#audit/publisher.js';
import { TESTING_GRANT_DAYS } from '#clients/client.js';
import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import {
  type EndedGrants,
  GrantRecordStore,
  type NewGrantRecord,
} from '#grants/records/grant-record.store.js';
import type { User } from '#users/user.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { RevocationService } from '#grants/revocation.service.js';
import type { IdTokenRequest, Login } from '#grants/grant.js';
import { grantId } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { parseClaims } from '#oauth/openid/claims.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';
import { scopeTokens } from '#oauth/scope.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { declinedScopes } from './interaction.js';
import type { ValidatedRequest } from '../validated-request.js';

/** Seconds. */
const DAY = 24 * 60 * 60;

export interface Approval {
  readonly scope: string;
  /** The user granted the scope earlier, and this time no consent page was shown. */
  readonly continuesConsent: boolean;
  readonly login: Login;
  /** Handle of the grant, if the same form must get the same code again; absent for a new code each time. */
  readonly handle?: Buffer | undefined;
}

export interface AllowedConsent {
  readonly code: string;
  readonly grantId: string;
  /** True if an earlier request with the same form has already got the code. */
  readonly isRepeated: boolean;
}

type ConsentRequest = Pick<ValidatedRequest, 'client' | 'scope' | 'resources'>;

/**
 * The consent was revoked or declined, its user or client deleted or disabled, or its device already has a grant.
 * `denied`: the same form was denied. `redeemed`: the code of the same form was redeemed.
 */
export class ConsentEndedError extends Error {
  constructor(readonly reason: 'ended' | 'denied' | 'redeemed' = 'ended') {
    super('the consent ended while the request was being answered');
    this.name = 'ConsentEndedError';
  }
}

@Injectable()
export class ConsentService {
  private readonly logger = new Logger(ConsentService.name);

  constructor(
    private readonly issuer: TokenIssuer,
    private readonly records: GrantRecordStore,
    private readonly engine: GrantEngine,
    private readonly revocations: RevocationService,
    private readonly audit: AuditPublisher,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Writes to PostgreSQL first, because no code may exist without a durable grant. Revokes older grants that include a
   * declined scope or exceed MAX_LIVE_GRANTS. If a scope is declined, repeats recent revocations, because an earlier
   * attempt may not have reached Redis.
   * @throws UnfinishedRevocationError if Redis did not apply these revocations; the new grant is then withdrawn
   * @throws ConsentEndedError
   */
  async allow(request: ValidatedRequest, user: User, approval: Approval): Promise<AllowedConsent> {
    const { redirectUri, challenge, jkt } = request;
    const { handle } = approval;
    const now = this.clock();
    const { code, grantId } = this.issuer.code(now, handle);
    const { record, declined } = this.recordOf(grantId, request, user, approval);
    const repeatable = { ...record, ...(handle && { repeatableFor: this.configuration.CODE_LIFETIME }) };
    const ended = await this.withdrawOnError(record, () => this.records.create(repeatable, declined));
    const revoked = this.endedGrants(record, ended);
    const created = await this.withdrawOnError(record, async () => {
      await this.revocations.apply(revoked);
      const idToken = record.login === null ? {} : idTokenRequest(request);
      const pending = { ...record, externalId: user.externalId, redirectUri, challenge, jkt, idToken };
      const { outcome, issuedAt } = await this.engine.create(grantId, pending, now);
      if (outcome === 'revoked') throw new ConsentEndedError(handle ? 'denied' : 'ended');
      return { outcome, issuedAt };
    });
    if (created.outcome === 'redeemed') throw new ConsentEndedError('redeemed');
    const { issuedAt } = created;
    const isRepeated = issuedAt !== now;
    return { code: isRepeated ? this.issuer.code(issuedAt, handle).code : code, grantId, isRepeated };
  }

  /** Voids the code that the form got before, unless the code was redeemed, and any code that it would get later. */
  async deny({ client }: ConsentRequest, handle: Buffer): Promise<void> {
    const id = grantId(handle);
    if (await this.engine.voidCode(id, client.clientId)) await this.records.withdraw(id);
  }

  /**
   * Approves a device (RFC 8628). PostgreSQL records at most one grant per device code. If Redis fails, leaves the
   * record, so that the user can repeat the approval. Does not withdraw a rejected approval but revokes the grant,
   * because the polling device may already have its tokens.
   * @returns false if the request was denied concurrently, or has expired
   * @throws ConsentEndedError if the consent has ended or another approval was recorded
   */
  async allowDevice(
    request: ConsentRequest & { grantId: string },
    user: User,
    approval: Approval,
  ): Promise<boolean> {
    const { grantId } = request;
    const { record, declined } = this.recordOf(grantId, request, user, approval);
    const ended = await this.records.create(record, declined);
    if (ended !== null || !(await this.isRecorded(record)))
      await this.revocations.apply(this.endedGrants(record, ended));
    const approved = await this.engine.approve(grantId, { ...record, externalId: user.externalId });
    if (!approved) await this.revokeUnused(grantId);
    return approved;
  }

  /** Returns true if an earlier approval has recorded the same grant. The response of that approval was lost. */
  private async isRecorded({ id, userId, clientId, scope }: NewGrantRecord): Promise<boolean> {
    const earlier = await this.records.find(id);
    return (
      earlier?.revokedAt === null &&
      earlier.userId === userId &&
      earlier.clientId === clientId &&
      earlier.scope === scope
    );
  }

  private recordOf(
    id: string,
    { client, scope: requestedScope, resources }: ConsentRequest,
    { id: userId }: User,
    { scope, continuesConsent, login: userLogin }: Approval,
  ) {
    const login = scopeTokens(scope).includes(OPENID) ? userLogin : null;
    const now = this.clock();
    const unused = now + this.configuration.REFRESH_TOKEN_LIFETIME * 1000;
    const { clientId, stage } = client;
    const endsAt = stage === 'testing' ? Math.floor(now / 1000 + TESTING_GRANT_DAYS * DAY) * 1000 : null;
    const expiresAt = new Date(Math.min(unused, endsAt ?? Infinity));
    return {
      record: {
        id,
        clientId,
        userId,
        scope,
        resources,
        login,
        requestedScope,
        expiresAt,
        endsAt,
        continuesConsent,
      },
      declined: continuesConsent ? [] : declinedScopes(scope, requestedScope),
    };
  }

  /** @returns ids of the grants that the new grant ends @throws ConsentEndedError if the new grant was not recorded */
  private endedGrants(
    { id: replacedBy, clientId, userId }: NewGrantRecord,
    ended: EndedGrants | null,
  ): string[] {
    if (ended === null) throw new ConsentEndedError();
    for (const id of ended.aboveLimit)
      this.audit.record({
        type: 'grant.revoked',
        client_id: clientId,
        user_id: userId,
        grant_id: id,
        detail: { outcome: 'above the limit', limit: MAX_LIVE_GRANTS, replaced_by: replacedBy },
      });
    return [...ended.declined, ...ended.aboveLimit];
  }

  private async revokeUnused(grantId: string): Promise<void> {
    await this.revocations.revoke(grantId).catch((reason: Error) => {
      this.logger.warn(`could not revoke the grant of a device that was not approved: ${reason.message}`);
    });
  }

  /**
   * Withdraws the grant if the step fails or its response is lost. Keeps the record if the form was sent again, because
   * the other request may have issued the code, unless the grant has ended. Only logs an error of the withdrawal,
   * because a record without a delivered code is harmless.
   */
  private async withdrawOnError<T>({ id, expiresAt }: NewGrantRecord, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      await this.records
        .withdraw(id, error instanceof ConsentEndedError ? undefined : expiresAt)
        .catch((reason: Error) => {
          this.logger.warn(`could not withdraw a grant without a code: ${reason.message}`);
        });
      throw error;
    }
  }
}

function idTokenRequest({ nonce, claims }: ValidatedRequest): IdTokenRequest {
  const { idToken } = parseClaims(claims ?? undefined);
  return { ...(nonce !== null && { nonce }), ...(idToken.length > 0 && { claims: idToken }) };
}
