import { Controller, Get, type HttpRedirectResponse, Param, Post } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ClientService } from '#clients/operations/client.service.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { type Form, QueryForm } from '#pages/form.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
import { confirmPage, noted, pathOf } from '../ui/parts.js';
import { applicationPage } from './application.page.js';
import { historyPage } from './history.page.js';
import { integratePage } from './integrate.page.js';
import { listPage } from './list.page.js';

@Controller()
export class ApplicationsController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly requests: RequestService,
    private readonly members: ClientMemberService,
    private readonly clients: ClientService,
    private readonly configuration: DevelopersConfiguration,
  ) {}

  @Get()
  async list(@CurrentViewer() viewer: Viewer): Promise<Page> {
    return listPage({
      ...viewer,
      applications: await this.applications.list(viewer.actor),
      requests: await this.requests.undecided(viewer.actor),
      tested: await this.members.tested(),
    });
  }

  @Get('applications/:id')
  async show(@CurrentViewer() viewer: Viewer, @Application() client: OwnedClient): Promise<Page> {
    return applicationPage({
      ...viewer,
      client,
      users: await this.applications.countUsers(client.clientId),
      requests: await this.requests.ofClient(client.clientId),
    });
  }

  @Get('applications/:id/integrate')
  async integrate(@CurrentViewer() viewer: Viewer, @Application() client: OwnedClient): Promise<Page> {
    return integratePage(viewer, client, this.configuration);
  }

  @Get('applications/:id/history')
  async history(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @QueryForm() query: Form,
  ): Promise<Page> {
    const [before] = /^\d{1,18}$/.exec(query.text('before')) ?? [];
    const events = await this.applications.history(viewer.actor, client.clientId, before);
    const members = await this.members.team(client.clientId);
    return historyPage({ ...viewer, client, events, members });
  }

  @Get('applications/:id/delete')
  @RecentLogin()
  async confirmDeletion(
    @CurrentViewer() viewer: Viewer,
    @Application() { clientId, name }: OwnedClient,
  ): Promise<Page> {
    const { translator } = viewer;
    return confirmPage(viewer, {
      title: translator.text('delete.title', { name }),
      text: translator.text('delete.text'),
      path: pathOf(clientId, 'delete'),
      button: translator.text('app.delete'),
      back: pathOf(clientId),
    });
  }

  @Post('applications/:id/delete')
  @RecentLogin()
  async delete(@CurrentViewer() { actor }: Viewer, @Param('id') id: string): Promise<HttpRedirectResponse> {
    try {
      await (
        await this.clients.delete(actor, id)
      ).announced;
    } catch (error) {
      // The application is deleted, and the token app will end its grants within seconds.
      if (!(error instanceof AdministrationError) || error.kind !== 'incomplete') throw error;
    }
    return seeOther(noted('/', 'deleted'));
  }
}
