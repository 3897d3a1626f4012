import { Controller, Get, type HttpRedirectResponse, Param, Post } from '@nestjs/common';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { OwnedEventService } from '#events/operations/owned-events.service.js';
import { type Form, QueryForm } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
import { noted, pathOf } from '../ui/parts.js';
import { eventsPage } from './events.page.js';

/** Events and logout tokens of an application with their deliveries. */
@Controller('applications/:id/events')
export class EventsController {
  constructor(
    private readonly events: OwnedEventService,
    private readonly configuration: DevelopersConfiguration,
  ) {}

  @Get()
  async show(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @QueryForm() query: Form,
  ): Promise<Page> {
    const events = await this.events.list(client.clientId, query.get('before'));
    return eventsPage({ ...viewer, ...events, client, origins: this.configuration });
  }

  @Post('enable')
  @SentFrom('../events')
  async enable(@CurrentViewer() { actor }: Viewer, @Param('id') id: string): Promise<HttpRedirectResponse> {
    await this.events.enable(actor, id);
    return seeOther(noted(pathOf(id, 'events'), 'enabled'));
  }

  @Post(':jti/redeliver')
  @SentFrom('../../events')
  async redeliver(
    @CurrentViewer() { actor }: Viewer,
    @Param('id') id: string,
    @Param('jti') jti: string,
  ): Promise<HttpRedirectResponse> {
    await this.events.redeliver(actor, id, jti);
    return seeOther(noted(pathOf(id, 'events'), 'redelivered'));
  }
}
