import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Req } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { OwnedEventService } from '#events/operations/owned-events.service.js';
import { type Form, queryOf } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { Languages } from '../ui/i18n/languages.js';
import { noted, pathOf } from '../ui/parts.js';
import { eventsPage } from './events.page.js';

/** Events and logout tokens of an application with their deliveries. */
@Controller('applications/:id/events')
export class EventsController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly events: OwnedEventService,
    private readonly languages: Languages,
  ) {}

  @Get()
  async show(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const query = queryOf(request.url);
    return eventsPage({
      ...this.languages.viewer(developer, request),
      ...(await this.events.list(id, query.get('before'))),
      client,
      note: query.get('note'),
    });
  }

  @Post('enable')
  @SentFrom('../events')
  async enable(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Body() _form: Form,
  ): Promise<HttpRedirectResponse> {
    await this.events.enable(actorOf(developer), id);
    return seeOther(noted(pathOf(id, 'events'), 'enabled'));
  }

  @Post(':jti/redeliver')
  @SentFrom('../../events')
  async redeliver(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Param('jti') jti: string,
    @Body() _form: Form,
  ): Promise<HttpRedirectResponse> {
    await this.events.redeliver(actorOf(developer), id, jti);
    return seeOther(noted(pathOf(id, 'events'), 'redelivered'));
  }
}
