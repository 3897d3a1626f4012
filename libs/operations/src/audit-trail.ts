import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ActorRights } from '#users/operators/console-role.js';
import { auditEvent, type AuditEvent, type AuditRecord, exportEvent } from '#audit/event.js';
import { serialize } from '#audit/publisher.js';
import { AuditReader } from '#audit/reader.js';
import { isUnanswered, isUnserved, storeEvent } from '#audit/streams.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { startLogExport } from '#platform/telemetry/start-telemetry.js';
import { problem, type Problems } from '#platform/validation/problem.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { AdministrationOptions, trailServer } from './administration.options.js';
import { OperatorNats } from './operator-nats.js';
import { warningText } from './failure-text.js';
import { jsonText } from './wording.js';

export interface Actor extends ActorRights {
  /** Name in the audit trail, like `ada@laptop`. */
  readonly name: string;
}

/** Owner of applications, or a user who requests one. */
export interface OwnerActor extends Actor {
  readonly channel: 'portal';
  readonly userId: number;
}

export const isOwner = (actor: Actor): actor is OwnerActor => actor.channel === 'portal';

export interface Change<Result> {
  readonly result: Result;
  /**
   * Resolves with warnings, and never rejects. Show a new secret before waiting, because the secret is not stored. Wait
   * before the process exits.
   */
  readonly announced: Promise<readonly string[]>;
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** `variable` has the address of the server. */
    audit_trail_unavailable: {
      readonly variable: string;
      readonly reason: 'unanswered' | 'interrupted' | 'without_jetstream';
    };
    event_not_stored: { readonly variable: string; readonly event: string };
  }
}

const RETRY_FOR_MS = 5_000;
const RETRY_MS = 500;
/** Time limit for all events of an operation. An import may record thousands of events. */
const STORE_WITHIN_MS = 30_000;

@Injectable()
export class AuditTrail implements OnApplicationShutdown {
  private logs: ReturnType<typeof startLogExport> | undefined;

  constructor(
    private readonly options: AdministrationOptions,
    private readonly nats: OperatorNats,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await (await this.logs)?.flush();
  }

  /** A failure does not undo the change. @returns warnings with the JSON of each event that NATS did not store */
  async record(actor: Actor, ...records: readonly Omit<AuditRecord, 'operator'>[]): Promise<string[]> {
    if (records.length === 0) return [];
    const events = records.map((record) => eventBy(actor, record));
    const exported = this.export(events, actor.channel === 'command').catch(() => undefined);
    const storeAll = async (nats: NatsConnection): Promise<void> => {
      // Stored events are removed, so that a retry does not store them twice.
      for (let event = events[0]; event; events.shift(), event = events[0]) await storeEvent(nats, event);
    };
    const { variable } = trailServer(this.options.settings);
    for (const end = Date.now() + RETRY_FOR_MS; ; await sleep(RETRY_MS)) {
      try {
        await this.nats.use('trail', storeAll, STORE_WITHIN_MS);
        await exported;
        return [];
      } catch (error) {
        if (isUnserved(error) || Date.now() >= end) break;
      }
    }
    await exported;
    return events.map((event) =>
      warningText(problem('event_not_stored', [], { variable, event: jsonText(event) })),
    );
  }

  /** @param waits true for a process that ends soon */
  private async export(events: readonly AuditEvent[], waits: boolean): Promise<void> {
    const lines = events.map(serialize);
    const [first] = events;
    const logs = await (this.logs ??= startLogExport(first?.service ?? 'operator', process.env));
    if (!logs) return;
    for (const line of lines) exportEvent(logs, line);
    if (waits) await logs.flush();
  }

  /** @throws AdministrationError of the kind `unavailable` */
  async read<T>(work: (reader: AuditReader) => Promise<T>): Promise<T> {
    const { variable } = trailServer(this.options.settings);
    try {
      return await this.nats.use('trail', async (nats) => work(await AuditReader.of(nats)));
    } catch (cause) {
      if (cause instanceof DependencyUnavailableError && cause.dependency === 'nats')
        throw unavailable(variable, 'unanswered', cause);
      if (isUnserved(cause)) throw unavailable(variable, 'without_jetstream', cause);
      if (isUnanswered(cause)) throw unavailable(variable, 'interrupted', cause);
      throw cause;
    }
  }
}

/** The trail names owners by their ids only, because it outlives users. */
function eventBy(actor: Actor, record: Omit<AuditRecord, 'operator'>): AuditEvent {
  if (isOwner(actor)) return auditEvent('developers', { ...record, user_id: actor.userId });
  const { name: operator, channel } = actor;
  const isListed = channel === 'api' || channel === 'page';
  return auditEvent('operator', { ...record, operator, ...(isListed && { channel }) });
}

function unavailable(
  variable: string,
  reason: Problems['audit_trail_unavailable']['reason'],
  cause: unknown,
): AdministrationError {
  const found = problem('audit_trail_unavailable', [], { variable, reason });
  return new AdministrationError('unavailable', [found], { cause });
}
