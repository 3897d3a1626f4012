import { Injectable } from '@nestjs/common';
import { identifyClient } from '#clients/operations/client-lookup.js';
import { checkPrivileges } from '#clients/operations/privileged-client.js';
import { ClientStore } from '#clients/client.store.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { refused } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { mapPage, pageRequest } from '#operations/list.js';
import { type Input, validated } from '#operations/operation-input.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import { problem } from '#platform/validation/problem.js';
import { type AdministeredEvent, EVENT_ID, EventStore } from '../event.store.js';
import { EventListDto } from './event.dto.js';

/** Security events for operators: receiver, latest answer, next attempt. */
@Injectable()
export class EventService {
  constructor(
    private readonly events: EventStore,
    private readonly clients: ClientStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  /** Newest first. */
  async list(input: Input<EventListDto> = {}): Promise<ListPage<EventView>> {
    const { client, waiting, cursor, limit } = validated(EventListDto, input);
    const clientId = client === undefined ? undefined : await identifyClient(this.clients, client);
    const page = await this.events.list({ clientId, waiting }, pageRequest(limit, cursor));
    return mapPage(page, eventView);
  }

  async find(jti: string): Promise<EventView> {
    const event = EVENT_ID.test(jti) ? await this.events.find(jti) : null;
    if (event) return eventView(event);
    throw refused('unknown', problem('event_unknown', [], { jti }));
  }

  /** Delivers a finished event again, with the same `jti`. */
  async redeliver(actor: Actor, jti: string): Promise<Change<EventView>> {
    const { client_id } = await this.find(jti);
    const client = await this.clients.find(client_id);
    if (client) checkPrivileges(actor, client, this.options.settings.consoleUrl);
    if (!(await this.events.redeliver(jti))) throw refused('conflict', problem('event_waits', [], { jti }));
    const detail = { command: 'event redeliver', jti };
    const warnings = await this.announcer.record(actor, { type: 'operator.command', client_id, detail });
    return { result: await this.find(jti), announced: Promise.resolve(warnings) };
  }
}

export type EventView = ReturnType<typeof eventView>;

export function eventView({ stream, ...event }: AdministeredEvent) {
  const isDue = event.outcome === null && stream.status === 'enabled' && stream.delivery !== 'poll';
  return {
    jti: event.jti,
    type: event.type,
    client_id: stream.clientId,
    user_id: event.userId,
    created_at: event.createdAt.toISOString(),
    state: event.outcome ?? 'waiting',
    attempts: event.attempts,
    answer: event.answer,
    finished_at: event.finishedAt?.toISOString() ?? null,
    next_attempt_at: isDue ? stream.dueAt.toISOString() : null,
    receiver: stream.endpointUrl ?? 'poll',
    stream_status: stream.status,
    stream_reason: stream.statusReason,
    failing_since: stream.failingSince?.toISOString() ?? null,
  };
}
