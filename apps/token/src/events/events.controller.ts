import {
  Body,
  Controller,
  createParamDecorator,
  Delete,
  type ExecutionContext,
  Get,
  Header,
  Patch,
  Post,
  Put,
  Req,
  UseGuards,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Parameters } from '#oauth/parameters.js';
import { SSF_MANAGE, SSF_READ } from '#oauth/client-credentials.js';
import { ApiOperation } from '#openapi/operation.js';
import { type EventRequest, EventTokenGuard } from './event-token.guard.js';
import * as openapi from './events.openapi.js';
import { PollService } from './poll.service.js';
import { StreamService } from './stream.service.js';

const { EventOperation } = openapi;

/** The app does not parse queries, because its other endpoints read none. */
const StreamId = createParamDecorator((_data: unknown, context: ExecutionContext): string | undefined => {
  const [, query = ''] = context.switchToHttp().getRequest<FastifyRequest>().url.split('?');
  return new URLSearchParams(query).get('stream_id') ?? undefined;
});

/** API by which a client manages its stream (section 8.1 of the Shared Signals Framework 1.0), and polls (RFC 8936). */
@Controller()
@UseGuards(EventTokenGuard)
export class EventsController {
  constructor(
    private readonly streams: StreamService,
    private readonly polls: PollService,
  ) {}

  @Post(ENDPOINTS.eventStream)
  @EventOperation('Creates the stream of the client', SSF_MANAGE, openapi.STREAM_CREATED, openapi.NEW_STREAM)
  createEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.create(clientId, body);
  }

  @Get(ENDPOINTS.eventStream)
  @EventOperation('Reads the stream; without stream_id, a list of it', SSF_READ, openapi.STREAM_OR_LIST)
  readEventStream(@Req() { clientId }: EventRequest, @StreamId() id?: string) {
    return this.streams.read(clientId, id);
  }

  @Patch(ENDPOINTS.eventStream)
  @EventOperation('Changes the members that the request has', SSF_MANAGE, openapi.STREAM, openapi.CHANGES)
  updateEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.update(clientId, body, false);
  }

  @Put(ENDPOINTS.eventStream)
  @EventOperation('Replaces the configuration', SSF_MANAGE, openapi.STREAM, openapi.CHANGES)
  replaceEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.update(clientId, body, true);
  }

  @Delete(ENDPOINTS.eventStream)
  @EventOperation('Deletes the stream with its events', SSF_MANAGE, openapi.DELETED)
  deleteEventStream(@Req() { clientId }: EventRequest, @StreamId() id?: string) {
    return this.streams.delete(clientId, id);
  }

  @Get(ENDPOINTS.eventStatus)
  @EventOperation('Reads the status of the stream', SSF_READ, openapi.STATE)
  readEventStreamStatus(@Req() { clientId }: EventRequest, @StreamId() id?: string) {
    return this.streams.status(clientId, id);
  }

  @Post(ENDPOINTS.eventStatus)
  @EventOperation('Pauses, disables or enables the stream', SSF_MANAGE, openapi.STATE, openapi.NEW_STATUS)
  setEventStreamStatus(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.setStatus(clientId, body);
  }

  /** Section 8.1.3.2: 200 with an empty body. */
  @Post(ENDPOINTS.addEventSubject)
  @EventOperation('Sends events about a user again', SSF_MANAGE, openapi.SUBJECT_ADDED, openapi.SUBJECT)
  addEventSubject(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.setSubject(clientId, body, true);
  }

  @Post(ENDPOINTS.removeEventSubject)
  @EventOperation('Sends no events about a user', SSF_MANAGE, openapi.SUBJECT_REMOVED, openapi.SUBJECT)
  removeEventSubject(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.setSubject(clientId, body, false);
  }

  @Post(ENDPOINTS.verifyEventStream)
  @EventOperation('Sends a verification event', SSF_MANAGE, openapi.VERIFYING, openapi.VERIFICATION)
  verifyEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.verify(clientId, body);
  }

  @Post(ENDPOINTS.eventPoll)
  @Header('Pragma', 'no-cache')
  @EventOperation('Acknowledges events, and returns events that wait', SSF_READ, openapi.EVENTS, openapi.POLL)
  async pollEvents(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.polls.poll(await this.streams.pollable(clientId), body);
  }
}

/** Section 7.1 of the Shared Signals Framework 1.0. */
@Controller(ENDPOINTS.ssfConfiguration)
export class SsfConfigurationController {
  constructor(private readonly streams: StreamService) {}

  @Get()
  @ApiOperation(openapi.SSF_CONFIGURATION)
  configuration() {
    return this.streams.transmitter();
  }
}
