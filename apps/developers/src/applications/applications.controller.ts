import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Req } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import { ClientService } from '#clients/operations/client.service.js';
import { AdministrationError } from '#operations/administration.error.js';
import { type Form, queryOf } from '#pages/form.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
import { Languages } from '../ui/i18n/languages.js';
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
    private readonly languages: Languages,
  ) {}

  @Get()
  async list(@CurrentDeveloper() developer: Developer, @Req() request: DeveloperRequest): Promise<Page> {
    const actor = actorOf(developer);
    return listPage(this.languages.translatorFor(request), {
      applications: await this.applications.list(actor),
      requests: await this.requests.undecided(actor),
      tested: await this.members.tested(),
      note: queryOf(request.url).get('note'),
    });
  }

  @Get('applications/:id')
  async show(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const users = await this.applications.countUsers(id);
    return applicationPage({
      ...this.languages.viewer(developer, request),
      client,
      users,
      requests: await this.requests.ofClient(id),
      note: queryOf(request.url).get('note'),
    });
  }

  @Get('applications/:id/integrate')
  async integrate(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    return integratePage(this.languages.viewer(developer, request), client, this.configuration);
  }

  @Get('applications/:id/history')
  async history(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const [before] = /^\d{1,18}$/.exec(queryOf(request.url).text('before')) ?? [];
    const events = await this.applications.history(actorOf(developer), id, before);
    const members = await this.members.team(id);
    return historyPage({
      ...this.languages.viewer(developer, request),
      client,
      events,
      members,
      userId: developer.userId,
    });
  }

  @Get('applications/:id/delete')
  @RecentLogin()
  async confirmDeletion(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const { name } = await this.applications.find(actorOf(developer), id);
    const viewer = this.languages.viewer(developer, request);
    const { translator } = viewer;
    return confirmPage(viewer, {
      title: translator.text('delete.title', { name }),
      text: translator.text('delete.text'),
      path: pathOf(id, 'delete'),
      button: translator.text('app.delete'),
      back: pathOf(id),
    });
  }

  @Post('applications/:id/delete')
  @RecentLogin()
  async delete(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Body() _form: Form,
  ): Promise<HttpRedirectResponse> {
    try {
      await (
        await this.clients.delete(actorOf(developer), id)
      ).announced;
    } catch (error) {
      // The application is deleted, and the token app will end its grants within seconds.
      if (!(error instanceof AdministrationError) || error.kind !== 'incomplete') throw error;
    }
    return seeOther(noted('/', 'deleted'));
  }
}
