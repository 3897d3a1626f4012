import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Req } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { AdministrationError } from '#operations/administration.error.js';
import type { Form } from '#pages/form.js';
import { SentBeforeLogin } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { type Content, contentOf, problemsOf } from '../requests/request.form.js';
import { Languages } from '../ui/i18n/languages.js';
import { noted, pathOf } from '../ui/parts.js';
import { changePage, type ChangeView, differencePage, differences } from './change.page.js';

/** Changes a live application, or the registration of an application in testing, which is its request. */
@Controller('applications/:id/change')
export class ChangeController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly requests: RequestService,
    private readonly catalogue: ScopeCatalogue,
    private readonly languages: Languages,
  ) {}

  @Get()
  async form(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    const view = await this.view(developer, request, id);
    return changePage({ ...view, content: sent ? contentOf(sent) : view.content });
  }

  @Post()
  async change(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page | HttpRedirectResponse> {
    const view = await this.view(developer, request, id);
    const content = contentOf(form, view.client.stage === 'testing' ? view.content : {});
    const action = form.text('action');
    if (action === 'edit') return changePage({ ...view, content });
    form.delete('action');
    if (action !== 'send')
      return differencePage({ ...view, content, form, changes: differences(view.content, content) });
    try {
      const isProposed = await this.send(developer, view, content, form.text('version'));
      return seeOther(noted(pathOf(id), isProposed ? 'proposed' : 'applied'));
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind !== 'invalid') throw error;
      return changePage({ ...view, content, problems: problemsOf(view.translator, error) });
    }
  }

  /** @returns true if an operator must approve a part of the change */
  private async send(
    developer: Developer,
    { client, content: before }: ChangeView,
    { application, termsUri, ...fields }: ReturnType<typeof contentOf>,
    version: string,
  ): Promise<boolean> {
    const actor = actorOf(developer);
    if (client.stage === 'live') {
      const { result, announced } = await this.applications.change(actor, client.clientId, fields);
      await announced;
      return result.request !== null;
    }
    const { id } = await this.requests.openRegistration(actor, client.clientId);
    const kept = (before['application'] ?? application) as typeof application;
    const content = { ...fields, termsUri, application: kept };
    await (
      await this.requests.answer(actor, id, { version: Number(version) }, content)
    ).announced;
    return true;
  }

  private async view(developer: Developer, request: DeveloperRequest, id: string): Promise<ChangeView> {
    const client = await this.applications.find(actorOf(developer), id);
    const viewer = { ...this.languages.viewer(developer, request), catalogue: this.catalogue };
    if (client.stage === 'live')
      return {
        ...viewer,
        client,
        content: contentOfClient(client),
        version: String(client.version),
        granted: client.scopes,
      };
    const { content, version } = await this.requests.openRegistration(actorOf(developer), id);
    return { ...viewer, client, content: content as Content, version: String(version), granted: [] };
  }
}

/** A live application needs a reason only for an added permission. */
function contentOfClient(client: OwnedClient): Content {
  const { name, clientUri, policyUri, contacts, redirectUris, scopes } = client;
  return { name, clientUri, policyUri, contacts, redirectUris, scopes };
}
