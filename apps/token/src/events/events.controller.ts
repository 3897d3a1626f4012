import {
  Body,
  Controller,
  createParamDecorator,
  Delete,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
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
  @EventOperation('Creates the stream of the client', SSF_MANAGE, openapi.CREATED, openapi.NEW_STREAM)
  createEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.create(clientId, body);
  }

  @Get(ENDPOINTS.eventStream)
  @EventOperation(
    'Reads the stream; without stream_id, a list of it',
    SSF_READ,
    openapi.CONFIGURATION_OR_LIST,
  )
  readEventStream(@Req() { clientId }: EventRequest, @StreamId() id?: string) {
    return this.streams.read(clientId, id);
  }

  @Patch(ENDPOINTS.eventStream)
  @EventOperation(
    'Changes the members that the request has',
    SSF_MANAGE,
    openapi.CONFIGURATION,
    openapi.CHANGED_STREAM,
  )
  updateEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.update(clientId, body, false);
  }

  @Put(ENDPOINTS.eventStream)
  @EventOperation('Replaces the configuration', SSF_MANAGE, openapi.CONFIGURATION, openapi.CHANGED_STREAM)
  replaceEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.update(clientId, body, true);
  }

  @Delete(ENDPOINTS.eventStream)
  @HttpCode(204)
  @EventOperation('Deletes the stream with its events', SSF_MANAGE, {
    204: { description: 'The stream is deleted.' },
  })
  deleteEventStream(@Req() { clientId }: EventRequest, @StreamId() id?: string) {
    return this.streams.delete(clientId, id);
  }

  @Get(ENDPOINTS.eventStatus)
  @EventOperation('Reads the status of the stream', SSF_READ, openapi.STATE)
  readEventStreamStatus(@Req() { clientId }: EventRequest, @StreamId() id?: string) {
    return this.streams.status(clientId, id);
  }

  @Post(ENDPOINTS.eventStatus)
  @HttpCode(200)
  @EventOperation('Pauses, disables or enables the stream', SSF_MANAGE, openapi.STATE, openapi.NEW_STATUS)
  setEventStreamStatus(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.setStatus(clientId, body);
  }

  /** Section 8.1.3.2: 200 with an empty body. */
  @Post(ENDPOINTS.addEventSubject)
  @HttpCode(200)
  @EventOperation(
    'Sends events about a user again',
    SSF_MANAGE,
    { 200: { description: 'The subject is in the stream.' } },
    openapi.SUBJECT,
  )
  addEventSubject(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.setSubject(clientId, body, true);
  }

  @Post(ENDPOINTS.removeEventSubject)
  @HttpCode(204)
  @EventOperation(
    'Sends no events about a user',
    SSF_MANAGE,
    { 204: { description: 'The subject is not in the stream.' } },
    openapi.SUBJECT,
  )
  removeEventSubject(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.setSubject(clientId, body, false);
  }

  @Post(ENDPOINTS.verifyEventStream)
  @HttpCode(204)
  @EventOperation(
    'Sends a verification event',
    SSF_MANAGE,
    { 204: { description: 'The event is on its way.' } },
    openapi.VERIFICATION,
  )
  verifyEventStream(@Req() { clientId }: EventRequest, @Body() body?: Parameters) {
    return this.streams.verify(clientId, body);
  }

  @Post(ENDPOINTS.eventPoll)
  @HttpCode(200)
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
