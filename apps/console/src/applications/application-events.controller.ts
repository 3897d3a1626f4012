import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { ClientService } from '#clients/operations/client.service.js';
import { EventService } from '#events/operations/event.service.js';
import { EventStreamService } from '#events/operations/event-stream.service.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import type { Change } from '#operations/audit-trail.js';
import { Form, QueryForm } from '#pages/form.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import { noticesOf } from '../ui/console-components.js';
import { confirmPage } from '../ui/confirm.page.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import { applicationEventsPage, type EventsView } from './application-events.page.js';
import { problemsOf } from './application.form.js';
import { applicationLabel, pathOf } from './application.page.js';

/** Events of an application in a page. */
const PAGE = 50;

/** The event stream of an application: receiver, status and deliveries. */
@Controller('applications/:id/events')
export class ApplicationEventsController {
  constructor(
    private readonly clients: ClientService,
    private readonly streams: EventStreamService,
    private readonly events: EventService,
  ) {}

  @Get()
  async show(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @QueryForm() query: Form,
  ): Promise<Page> {
    return this.page(operator, id, {}, query);
  }

  @Post('receiver')
  @RequireRole('admin')
  @RecentLogin()
  @SentFrom('../events', false)
  async register(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    const receiver = {
      eventsUrl: form.text('eventsUrl'),
      events: form.getAll('events'),
      eventsAuthorization: form.has('removeAuthorization')
        ? null
        : form.text('eventsAuthorization') || undefined,
    };
    try {
      const change = this.streams.register(actorOf(operator), id, receiver);
      return await this.changed(operator, id, 'The receiver is saved.', change);
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind !== 'invalid') throw error;
      return this.page(operator, id, { form, problems: problemsOf(error) });
    }
  }

  @Post('pause')
  @RequireRole('support')
  pause(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    const change = this.streams.setStatus(actorOf(operator), id, 'paused');
    return this.changed(operator, id, 'The stream is paused.', change);
  }

  @Post('enable')
  @RequireRole('support')
  enable(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    const change = this.streams.setStatus(actorOf(operator), id, 'enabled');
    return this.changed(operator, id, 'The stream is enabled.', change);
  }

  @Post(':jti/redeliver')
  @RequireRole('support')
  redeliver(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Param('jti') jti: string,
  ): Promise<Page> {
    const change = this.events.redeliver(actorOf(operator), jti);
    return this.changed(operator, id, 'The event is delivered again.', change);
  }

  @Get('delete')
  @RequireRole('admin')
  @RecentLogin()
  async confirmDeletion(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    const client = await this.clients.find(id);
    await this.streams.find(id);
    return confirmPage({
      operator,
      section: '/applications',
      title: phrase('Delete the event stream of {name}?', { name: client.name }),
      subject: applicationLabel(client),
      text: 'Events that wait are deleted, and the application gets no further ones.',
      path: pathOf(id, 'events/delete'),
      button: 'Delete',
      back: pathOf(id, 'events'),
    });
  }

  @Post('delete')
  @RequireRole('admin')
  @RecentLogin()
  delete(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    const change = this.streams.delete(actorOf(operator), id);
    return this.changed(operator, id, 'The event stream is deleted.', change);
  }

  private async changed(
    operator: Operator,
    id: string,
    note: string,
    change: Promise<Change<unknown>>,
  ): Promise<Page> {
    return this.page(operator, id, { changed: await noticesOf(note, change) });
  }

  private async page(operator: Operator, id: string, more: Partial<EventsView>, query = new Form()) {
    const client = await this.clients.find(id);
    const { client_id: clientId } = client;
    const [stream, logouts] = [await this.streams.of(clientId), await this.streams.logoutsOf(clientId)];
    const events = await this.events.list({ client: clientId, limit: PAGE, ...query.filled('cursor') });
    return applicationEventsPage({ operator, client, stream, logouts, events, ...more });
  }
}
