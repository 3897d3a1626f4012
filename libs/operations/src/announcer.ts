import { Injectable } from '@nestjs/common';
import type { AuditRecord } from '#audit/event.js';
import type { ApplyRevocationsRequest } from '#messaging/contract.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { type Actor, AuditTrail } from './audit-trail.js';
import { RunningServices } from './running-services/running-services.js';

/** Announces stored changes to the running services and the audit trail. All methods return warnings. */
@Injectable()
export class Announcer {
  constructor(
    private readonly services: RunningServices,
    private readonly trail: AuditTrail,
  ) {}

  /** Only records events, for example because no running service caches the change. */
  record(actor: Actor, ...records: readonly AuditRecord[]): Promise<string[]> {
    return this.trail.record(actor, ...records);
  }

  /** Announces changed clients or changed resource servers, which the services cache in the same way. */
  async clientsChanged(
    actor: Actor,
    ids: readonly string[],
    ...records: readonly AuditRecord[]
  ): Promise<string[]> {
    const warnings = await this.services.clientsChanged(ids);
    return [...warnings, ...(await this.trail.record(actor, ...records))];
  }

  /**
   * Resolves when the services reject the tokens of all revoked grants of the owner. Records the change even on
   * failure.
   * @throws AdministrationError of the kind `incomplete`
   */
  async applyRevocation(
    actor: Actor,
    owner: ApplyRevocationsRequest,
    done: string,
    record: AuditRecord,
  ): Promise<string[]> {
    const failure = await this.services.applyRevocations(owner, done).catch((error: unknown) => error);
    const warnings = await this.trail.record(actor, record);
    if (failure instanceof AdministrationError) failure.warnings = warnings;
    if (failure !== undefined) throw failure;
    return warnings;
  }
}
