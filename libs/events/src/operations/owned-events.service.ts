import { Injectable } from '@nestjs/common';
import { unknownClient } from '#clients/client.js';
import { OwnedClientStore } from '#clients/owners/owned-client.store.js';
import { refused } from '#platform/validation/administration.error.js';
import { Announcer } from '#operations/announcer.js';
import type { OwnerActor } from '#operations/audit-trail.js';
import { problem } from '#platform/validation/problem.js';
import { EVENT_ID, EventStore, type OwnedEvent } from '../event.store.js';
import { type EventStream, EventStreamStore } from '../event-stream.store.js';

const PAGE = 25;

export interface OwnedEvents {
  /** Stream of security events, and the deliveries of logout tokens. */
  readonly streams: readonly EventStream[];
  /** Newest first. */
  readonly events: readonly OwnedEvent[];
  /** True if older events follow. */
  readonly hasMore: boolean;
}

/** Events and logout tokens of an application for its owners, without their users. */
@Injectable()
export class OwnedEventService {
  constructor(
    private readonly applications: OwnedClientStore,
    private readonly streams: EventStreamStore,
    private readonly events: EventStore,
    private readonly announcer: Announcer,
  ) {}

  /** @param before id of the oldest event of the page before */
  async list(clientId: string, before: string | null): Promise<OwnedEvents> {
    const found = [await this.streams.ofClient(clientId), await this.streams.logoutsOf(clientId)];
    const streams = found.filter((stream) => stream !== null);
    const from = before !== null && /^\d{1,18}$/.test(before) ? before : null;
    const ids = streams.map(({ id }) => id);
    const events = await this.events.ofStreams(ids, from, PAGE + 1);
    return { streams, events: events.slice(0, PAGE), hasMore: events.length > PAGE };
  }

  /** Delivers a finished event again, with the same `jti`. */
  async redeliver(actor: OwnerActor, clientId: string, jti: string): Promise<void> {
    await this.check(actor, clientId);
    if (!EVENT_ID.test(jti) || !(await this.events.redeliverOwned(clientId, jti)))
      throw refused('unknown', problem('event_unknown', [], { jti }));
    await this.announcer.record(actor, {
      type: 'client.updated',
      client_id: clientId,
      detail: { redelivered: jti },
    });
  }

  /** Ends a pause that no operator made. */
  async enable(actor: OwnerActor, clientId: string): Promise<void> {
    await this.check(actor, clientId);
    if (!(await this.streams.enableOwned(clientId))) return;
    await this.announcer.record(actor, {
      type: 'client.updated',
      client_id: clientId,
      changes: { events_status: { old: 'paused', new: 'enabled' } },
    });
  }

  private async check({ userId }: OwnerActor, clientId: string): Promise<void> {
    if (!(await this.applications.owns(clientId, userId))) throw unknownClient(clientId);
  }
}
