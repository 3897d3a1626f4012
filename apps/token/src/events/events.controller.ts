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
import { type EventRequest, EventScope, EventTokenGuard } from './event-token.guard.js';
import * as openapi from './events.openapi.js';
import { PollService } from './poll.service.js';
import { StreamService } from './stream.service.js';

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
  @ApiOperation(openapi.CREATE_STREAM)
  @EventScope(SSF_MANAGE)
  create(
    @Req() { clientId }: EventRequest,
    @Body() body: Parameters | undefined,
  ): Promise<openapi.StreamConfiguration> {
    return this.streams.create(clientId, body);
  }

  @Get(ENDPOINTS.eventStream)
  @ApiOperation(openapi.READ_STREAM)
  @EventScope(SSF_READ)
  read(
    @Req() { clientId }: EventRequest,
    @StreamId() id: string | undefined,
  ): Promise<openapi.StreamConfiguration | openapi.StreamConfiguration[]> {
    return this.streams.read(clientId, id);
  }

  @Patch(ENDPOINTS.eventStream)
  @ApiOperation(openapi.UPDATE_STREAM)
  @EventScope(SSF_MANAGE)
  update(
    @Req() { clientId }: EventRequest,
    @Body() body: Parameters | undefined,
  ): Promise<openapi.StreamConfiguration> {
    return this.streams.update(clientId, body, false);
  }

  @Put(ENDPOINTS.eventStream)
  @ApiOperation(openapi.REPLACE_STREAM)
  @EventScope(SSF_MANAGE)
  replace(
    @Req() { clientId }: EventRequest,
    @Body() body: Parameters | undefined,
  ): Promise<openapi.StreamConfiguration> {
    return this.streams.update(clientId, body, true);
  }

  @Delete(ENDPOINTS.eventStream)
  @HttpCode(204)
  @ApiOperation(openapi.DELETE_STREAM)
  @EventScope(SSF_MANAGE)
  delete(@Req() { clientId }: EventRequest, @StreamId() id: string | undefined): Promise<void> {
    return this.streams.delete(clientId, id);
  }

  @Get(ENDPOINTS.eventStatus)
  @ApiOperation(openapi.READ_STATUS)
  @EventScope(SSF_READ)
  status(
    @Req() { clientId }: EventRequest,
    @StreamId() id: string | undefined,
  ): Promise<openapi.StreamState> {
    return this.streams.status(clientId, id);
  }

  @Post(ENDPOINTS.eventStatus)
  @HttpCode(200)
  @ApiOperation(openapi.SET_STATUS)
  @EventScope(SSF_MANAGE)
  setStatus(
    @Req() { clientId }: EventRequest,
    @Body() body: Parameters | undefined,
  ): Promise<openapi.StreamState> {
    return this.streams.setStatus(clientId, body);
  }

  /** Section 8.1.3.2: 200 with an empty body. */
  @Post(ENDPOINTS.addEventSubject)
  @HttpCode(200)
  @ApiOperation(openapi.ADD_SUBJECT)
  @EventScope(SSF_MANAGE)
  addSubject(@Req() { clientId }: EventRequest, @Body() body: Parameters | undefined): Promise<void> {
    return this.streams.setSubject(clientId, body, true);
  }

  @Post(ENDPOINTS.removeEventSubject)
  @HttpCode(204)
  @ApiOperation(openapi.REMOVE_SUBJECT)
  @EventScope(SSF_MANAGE)
  removeSubject(@Req() { clientId }: EventRequest, @Body() body: Parameters | undefined): Promise<void> {
    return this.streams.setSubject(clientId, body, false);
  }

  @Post(ENDPOINTS.verifyEventStream)
  @HttpCode(204)
  @ApiOperation(openapi.VERIFY_STREAM)
  @EventScope(SSF_MANAGE)
  verify(@Req() { clientId }: EventRequest, @Body() body: Parameters | undefined): Promise<void> {
    return this.streams.verify(clientId, body);
  }

  @Post(ENDPOINTS.eventPoll)
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  @ApiOperation(openapi.POLL_EVENTS)
  @EventScope(SSF_READ)
  async poll(
    @Req() { clientId }: EventRequest,
    @Body() body: Parameters | undefined,
  ): Promise<openapi.PolledEvents> {
    return this.polls.poll(await this.streams.pollable(clientId), body);
  }
}

/** Section 7.1 of the Shared Signals Framework 1.0. */
@Controller(ENDPOINTS.ssfConfiguration)
export class SsfConfigurationController {
  constructor(private readonly streams: StreamService) {}

  @Get()
  @ApiOperation(openapi.SSF_CONFIGURATION)
  configuration(): openapi.SsfConfiguration {
    return this.streams.transmitter();
  }
}
