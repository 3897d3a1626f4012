import type { AuditRecord } from '#audit/event.js';
import type { EndAnnouncer } from '../end-user.js';
import { AdministrationError } from '#operations/administration.error.js';
import type { Announcer } from '#operations/announcer.js';
import type { Actor } from '#operations/actor.js';
import type { RunningServices } from '#operations/running-services/running-services.js';

/** Announces over NATS, and collects the warnings. */
export class OperatorEndAnnouncer implements EndAnnouncer {
  readonly warnings: string[] = [];

  /** @param states what is true of the user if the services do not answer after a step */
  constructor(
    private readonly actor: Actor,
    private readonly states: Readonly<Record<'disabled' | 'deleted', string>>,
    private readonly announcer: Announcer,
    private readonly services: RunningServices,
  ) {}

  async record(event: AuditRecord): Promise<void> {
    this.warnings.push(...(await this.announcer.record(this.actor, event)));
  }

  async endAccess(userId: number, step: 'disabled' | 'deleted'): Promise<void> {
    const loggedOut = this.services.sessionsEnded(userId);
    try {
      await this.services.applyRevocations({ user_id: userId }, this.states[step]);
    } finally {
      this.warnings.push(...(await loggedOut));
    }
  }

  /** Adds the warnings to an error. */
  readonly rethrow = (error: unknown): never => {
    if (error instanceof AdministrationError) error.warnings = this.warnings;
    throw error;
  };
}
