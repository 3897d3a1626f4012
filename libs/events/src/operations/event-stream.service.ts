import { Injectable } from '@nestjs/common';
import { changesBetween } from '#audit/changes.js';
import { ClientStore } from '#clients/client.store.js';
import { unknownClient } from '#clients/client.js';
import { identifyClient } from '#clients/operations/client-lookup.js';
import { checkPrivileges } from '#clients/operations/privileged-client.js';
import { refused } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { type Input, validated } from '#operations/operation-input.js';
import { problem } from '#platform/validation/problem.js';
import { BY_OPERATOR } from '../event-stream.entity.js';
import { type EventStream, EventStreamStore } from '../event-stream.store.js';
import { ReceiverDto } from './receiver.dto.js';

/** The event stream of an application for operators. The application may manage the same stream by the SSF API. */
@Injectable()
export class EventStreamService {
  constructor(
    private readonly streams: EventStreamStore,
    private readonly clients: ClientStore,
    private readonly services: RunningServices,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  /** @returns null if the application has no stream */
  async of(idOrName: string): Promise<StreamView | null> {
    const stream = await this.streams.ofClient(await this.registered(idOrName));
    return stream && streamView(stream);
  }

  async find(idOrName: string): Promise<StreamView> {
    const clientId = await this.registered(idOrName);
    const stream = await this.streams.ofClient(clientId);
    if (stream) return streamView(stream);
    throw refused('unknown', problem('event_stream_missing', [], { clientId }));
  }

  /** The deliveries of logout tokens, which has the registered address. @returns null without such an address */
  async logoutsOf(idOrName: string): Promise<StreamView | null> {
    const stream = await this.streams.logoutsOf(await this.registered(idOrName));
    return stream && streamView(stream);
  }

  check(input: Input<ReceiverDto>): void {
    validated(ReceiverDto, input);
  }

  /** Registers or changes the receiver. */
  async register(actor: Actor, idOrName: string, input: Input<ReceiverDto>): Promise<Change<StreamView>> {
    const { eventsUrl, events, eventsAuthorization: header } = validated(ReceiverDto, input);
    const clientId = await this.registered(idOrName, actor);
    const before = await this.streams.ofClient(clientId);
    const sealed =
      typeof header === 'string'
        ? await this.services.sealHeader({ client_id: clientId, endpoint_url: eventsUrl, header })
        : header;
    await this.streams.register(clientId, eventsUrl, events, sealed);
    const result = await this.find(clientId);
    const isHeaderChanged = header !== undefined;
    return { result, announced: this.record(actor, before && streamView(before), result, isHeaderChanged) };
  }

  /** Applies to the logout tokens of the application, too. A paused stream keeps its events for a week. */
  async setStatus(actor: Actor, idOrName: string, status: 'paused' | 'enabled'): Promise<Change<StreamView>> {
    const clientId = await this.registered(idOrName, actor);
    const any = async () =>
      (await this.of(clientId)) ?? (await this.logoutsOf(clientId)) ?? this.find(clientId);
    const before = await any();
    await this.streams.announceStatus(clientId, status, BY_OPERATOR);
    const result = await any();
    return { result, announced: this.record(actor, before, result) };
  }

  /** Deletes the stream with its events. */
  async delete(actor: Actor, idOrName: string): Promise<Change<StreamView>> {
    const result = await this.find(idOrName);
    await this.registered(result.client_id, actor);
    await this.streams.delete(result.stream_id);
    return { result, announced: this.record(actor, result, null) };
  }

  private record(
    actor: Actor,
    before: StreamView | null,
    after: StreamView | null,
    isHeaderChanged = false,
  ): Promise<string[]> {
    const { changes } = changesBetween(recorded(before), recorded(after));
    return this.announcer.record(actor, {
      type: 'client.updated',
      client_id: (after ?? before)?.client_id ?? '',
      changes: { ...changes, ...(isHeaderChanged && { events_authorization: { omitted: 'secret' } }) },
    });
  }

  /** @param actor who changes the application @throws AdministrationError */
  private async registered(idOrName: string, actor?: Actor): Promise<string> {
    const client = await this.clients.find(await identifyClient(this.clients, idOrName));
    if (!client) throw unknownClient(idOrName);
    if (actor) checkPrivileges(actor, client, this.options.settings.consoleUrl);
    return client.clientId;
  }
}

export type StreamView = ReturnType<typeof streamView>;

function streamView(stream: EventStream) {
  return {
    client_id: stream.clientId,
    stream_id: stream.id,
    delivery: stream.delivery,
    /** Null for a stream that the application polls. */
    events_url: stream.endpointUrl,
    events: stream.eventsRequested,
    status: stream.status,
    status_reason: stream.statusReason,
    failing_since: stream.failingSince?.toISOString() ?? null,
    next_attempt_at: stream.failingSince && stream.status === 'enabled' ? stream.dueAt.toISOString() : null,
    description: stream.description,
    created_at: stream.createdAt.toISOString(),
  };
}

function recorded(view: StreamView | null): Readonly<Record<string, unknown>> {
  if (!view) return {};
  const { delivery: event_delivery, events_url, events, status: events_status } = view;
  return { event_delivery, events_url, events, events_status };
}
