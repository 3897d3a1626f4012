import { Injectable, Module } from '@nestjs/common';
import type { AuditRecord } from '#audit/event.js';
import { ClientStore } from '#clients/client.store.js';
import {
  type AdministeredGrant,
  GrantAdministrationStore,
  type GrantFilter,
} from '../records/grant-administration.store.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { AdministrationError, type Expected, refused } from '#platform/validation/administration.error.js';
import { Announcer } from '#operations/announcer.js';
import { unknownClient } from '#clients/client.js';
import { identifyClient } from '#clients/operations/client-lookup.js';
import { type Input, validated } from '#operations/operation-input.js';
import { mapPage, pageRequest } from '#operations/list.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { problem } from '#platform/validation/problem.js';
import { isUserId } from '#users/user.js';
import { findUser } from '#users/operations/user.dto.js';
import { GRANT_ID, GrantListDto, GrantSelectionDto } from './grant.dto.js';

export type GrantView = ReturnType<typeof grantView>;

export interface RevokedGrant {
  readonly id: string;
  readonly revoked: true;
  readonly revoked_before: boolean;
}

@Injectable()
export class GrantService {
  constructor(
    private readonly grants: GrantAdministrationStore,
    private readonly clients: ClientStore,
    private readonly accounts: UserAccountStore,
    private readonly services: RunningServices,
    private readonly announcer: Announcer,
  ) {}

  async list(input: Input<GrantListDto> = {}): Promise<ListPage<GrantView>> {
    const { limit, cursor, ended, ...selection } = validated(GrantListDto, input);
    const owner = await this.ownerOf(selection);
    return mapPage(await this.grants.list({ ...owner, ended }, pageRequest(limit, cursor)), grantView);
  }

  async find(id: string): Promise<GrantView> {
    const grant = await this.grants.find(id);
    if (grant) return grantView(grant);
    throw refused('unknown', problem('grant_unknown', [], { id }));
  }

  /** Safe to repeat. @throws AdministrationError of the kind `incomplete` if the services do not answer */
  async revoke(actor: Actor, id: string, expected?: Expected): Promise<Change<RevokedGrant>> {
    if (!GRANT_ID.test(id)) throw refused('invalid', problem('grant_id_invalid', 'id'));
    const { user_id, client_id } = await this.find(id);
    const revoked = await this.grants.revokeOne(id, expected?.version);
    const record = { type: 'grant.revoked', client_id, user_id, grant_id: id } as const;
    const warnings = await this.announcer.applyRevocation(actor, { user_id }, 'the grant is revoked', record);
    return {
      result: { id, revoked: true, revoked_before: !revoked },
      announced: Promise.resolve(warnings),
    };
  }

  /** Counts the live grants of these users or applications, in one query. */
  countLiveOf(owners: Parameters<GrantAdministrationStore['countLiveOf']>[0]): Promise<number> {
    if ('clientIds' in owners) return this.grants.countLiveOf(owners);
    return this.grants.countLiveOf({ userIds: owners.userIds.filter((id) => isUserId(String(id))) });
  }

  async countLive(input: Input<GrantSelectionDto>): Promise<number> {
    return this.grants.countLive(await this.ownerOf(validated(GrantSelectionDto, input)));
  }

  /** Safe to repeat. @throws AdministrationError of the kind `incomplete` if the services do not answer */
  async revokeAll(
    actor: Actor,
    input: Input<GrantSelectionDto>,
    progress: (revoked: number) => void = () => undefined,
  ): Promise<Change<{ readonly revoked_grants: number }>> {
    const owner = await this.ownerOf(validated(GrantSelectionDto, input));
    const isEverything = owner.userId === undefined && !owner.clientId;
    // Includes a given owner without live grants: an earlier run may have revoked its grants without informing the
    // services.
    const owners = isEverything ? await this.grants.liveClients() : [owner.clientId];
    let revoked = 0;
    let failure: unknown;
    try {
      for (const clientId of owners) {
        await this.grants.revoke({ ...owner, clientId }, (count) => {
          revoked += count;
          progress(revoked);
        });
        const request =
          owner.userId === undefined ? { client_id: clientId ?? '' } : { user_id: owner.userId };
        await this.services.applyRevocations(request, 'the grants are revoked');
      }
    } catch (error) {
      failure = error;
    }
    const warnings = await this.announcer.record(actor, revocationOf(owner, revoked));
    if (failure instanceof AdministrationError) failure.warnings = warnings;
    if (failure !== undefined) throw failure;
    return { result: { revoked_grants: revoked }, announced: Promise.resolve(warnings) };
  }

  /**
   * Repeat the call while `more` is true or after a failure. The services apply the revocations with the last batch.
   */
  async revokeSome(
    actor: Actor,
    input: { readonly user?: string; readonly client?: string },
  ): Promise<Change<{ readonly revoked_grants: number; readonly more: boolean }>> {
    const owner = await this.ownerOf(validated(GrantSelectionDto, input));
    const { revoked, more } = await this.grants.revokeSome(owner);
    const record = revocationOf(owner, revoked);
    const { userId, clientId = '' } = owner;
    const request = userId === undefined ? { client_id: clientId } : { user_id: userId };
    const announced = more
      ? this.announcer.record(actor, record)
      : this.announcer.applyRevocation(actor, request, 'the grants are revoked', record);
    const warnings = await announced;
    return { result: { revoked_grants: revoked, more }, announced: Promise.resolve(warnings) };
  }

  private async ownerOf({ user: login, client }: { user?: string; client?: string }): Promise<GrantFilter> {
    const user = login === undefined ? undefined : await findUser(this.accounts, login);
    const clientId = client === undefined ? undefined : await identifyClient(this.clients, client);
    // Rejects a deleted client, because its grants are already revoked.
    if (clientId !== undefined && !(await this.clients.find(clientId))) throw unknownClient(clientId);
    return { userId: user?.id, clientId };
  }
}

@Module({ providers: [GrantService], exports: [GrantService] })
export class GrantOperationsModule {}

/** Returns one audit event for all grants of a call, not one per grant. */
function revocationOf({ userId, clientId }: GrantFilter, revoked: number): AuditRecord {
  return {
    type: userId === undefined && clientId === undefined ? 'operator.command' : 'grant.revoked',
    ...(clientId !== undefined && { client_id: clientId }),
    ...(userId !== undefined && { user_id: userId }),
    detail: { command: 'grant revoke', revoked_grants: revoked },
  };
}

/** The id of a grant is not a secret: the id is a hash, and no token contains it. */
function grantView(grant: AdministeredGrant) {
  const { revokedAt, expiresAt } = grant;
  return {
    id: grant.id,
    user_id: grant.userId,
    username: grant.username,
    client_id: grant.clientId,
    client_name: grant.clientName,
    scope: grant.scope,
    state: revokedAt ? 'revoked' : expiresAt.getTime() < Date.now() ? 'expired' : 'live',
    created_at: grant.createdAt.toISOString(),
    last_used_on: grant.lastUsedOn,
    expires_at: expiresAt.toISOString(),
    revoked_at: revokedAt?.toISOString() ?? null,
    version: grant.version,
  };
}
