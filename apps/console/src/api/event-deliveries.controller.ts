import { Param } from '@nestjs/common';
import { EventService } from '#events/operations/event.service.js';
import type { Change } from '#operations/audit-trail.js';
import { EventStreamService } from '#events/operations/event-stream.service.js';
import { ApiController, Operation } from './operation.js';
import { type ChangeRequest, Query, RequestedChange } from './request-input.js';
import * as schemas from './schemas.js';

const WITHOUT_VERSION = 'Needs no `If-Match`: the application may change its stream itself.';

/** The event stream of an application. */
@ApiController('clients')
export class EventStreamsApiController {
  constructor(private readonly streams: EventStreamService) {}

  @Operation('get', ':id/event-stream', {
    summary: 'Reads the event stream of an application; never the header of its receiver',
    returns: schemas.EVENT_STREAM,
  })
  readEventStream(@Param('id') id: string): Promise<object> {
    return this.streams.find(id);
  }

  @Operation('put', ':id/event-stream', {
    summary: 'Registers the receiver of the events of an application, or changes it',
    description: `Without \`events\`, a new stream has every event. \`events_authorization\` stays if it is absent and the URL stays; null removes it. ${WITHOUT_VERSION}`,
    input: schemas.EVENT_RECEIVER,
    returns: schemas.EVENT_STREAM,
    needsVersion: false,
  })
  registerEventReceiver(@RequestedChange() { actor, id, input }: ChangeRequest): Promise<Change<object>> {
    return this.streams.register(actor, id, input);
  }

  @Operation('post', ':id/event-stream/pause', {
    summary: 'Pauses the event stream of an application: its events wait, for a week',
    returns: schemas.EVENT_STREAM,
  })
  pauseEventStream(@RequestedChange() { actor, id }: ChangeRequest): Promise<Change<object>> {
    return this.streams.setStatus(actor, id, 'paused');
  }

  @Operation('post', ':id/event-stream/enable', {
    summary: 'Enables the event stream of an application, and tries its receiver immediately',
    returns: schemas.EVENT_STREAM,
  })
  enableEventStream(@RequestedChange() { actor, id }: ChangeRequest): Promise<Change<object>> {
    return this.streams.setStatus(actor, id, 'enabled');
  }

  @Operation('delete', ':id/event-stream', {
    summary: 'Deletes the event stream of an application with its events',
    description: WITHOUT_VERSION,
    needsVersion: false,
  })
  deleteEventStream(@RequestedChange() { actor, id }: ChangeRequest): Promise<Change<object>> {
    return this.streams.delete(actor, id);
  }
}

/** Events for applications, by their `jti`. */
@ApiController('event-deliveries')
export class EventDeliveriesApiController {
  constructor(private readonly events: EventService) {}

  @Operation('get', '', {
    summary: 'Lists the events of the last two weeks, newest first',
    query: {
      client: 'client_id, or the name if no other application has it.',
      waiting: '`true`: only events that no receiver has accepted or refused yet.',
    },
    flags: ['waiting'],
    returns: schemas.EVENT_DELIVERY,
    isPage: true,
  })
  listEventDeliveries(@Query() query: object): Promise<object> {
    return this.events.list(query);
  }

  @Operation('get', ':id', {
    summary: 'Reads an event: its receiver, the latest answer, the next attempt',
    returns: schemas.EVENT_DELIVERY,
  })
  readEventDelivery(@Param('id') jti: string): Promise<object> {
    return this.events.find(jti);
  }

  @Operation('post', ':id/redeliver', {
    summary: 'Delivers an event again, with the same `jti`',
    returns: schemas.EVENT_DELIVERY,
  })
  redeliverEvent(@RequestedChange() { actor, id }: ChangeRequest): Promise<Change<object>> {
    return this.events.redeliver(actor, id);
  }
}
