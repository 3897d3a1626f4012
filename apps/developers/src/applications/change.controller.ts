import { Body, Controller, Get, type HttpRedirectResponse, Post } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import type { Form } from '#pages/form.js';
import { SentBeforeLogin } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { type Content, contentOf, unlessInvalid } from '../requests/request.form.js';
import { noted, pathOf } from '../ui/parts.js';
import { changePage, type ChangeView, differencePage, differences } from './change.page.js';

/** Changes a live application, or the registration of an application in testing, which is its request. */
@Controller('applications/:id/change')
export class ChangeController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly requests: RequestService,
    private readonly catalogue: ScopeCatalogue,
  ) {}

  @Get()
  async form(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    const view = await this.view(viewer, client);
    return changePage({ ...view, content: sent ? contentOf(sent) : view.content });
  }

  @Post()
  async change(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @Body() form: Form,
  ): Promise<Page | HttpRedirectResponse> {
    const view = await this.view(viewer, client);
    const content = contentOf(form, client.stage === 'testing' ? view.content : {});
    const action = form.text('action');
    if (action === 'edit') return changePage({ ...view, content });
    form.delete('action');
    if (action !== 'send')
      return differencePage({ ...view, content, form, changes: differences(view.content, content) });
    const sent = this.send(view, content, form.text('version')).then((isProposed) =>
      seeOther(noted(pathOf(client.clientId), isProposed ? 'proposed' : 'applied')),
    );
    return unlessInvalid(view.translator, sent, (problems) => changePage({ ...view, content, problems }));
  }

  /** @returns true if an operator must approve a part of the change */
  private async send(
    { actor, client, content: before }: ChangeView,
    { application, termsUri, ...fields }: ReturnType<typeof contentOf>,
    version: string,
  ): Promise<boolean> {
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

  private async view(viewer: Viewer, client: OwnedClient): Promise<ChangeView> {
    const view = { ...viewer, catalogue: this.catalogue, client };
    if (client.stage === 'live') {
      const { version, scopes: granted } = client;
      return { ...view, content: contentOfClient(client), version: String(version), granted };
    }
    const { content, version } = await this.requests.openRegistration(viewer.actor, client.clientId);
    return { ...view, content: content as Content, version: String(version), granted: [] };
  }
}

/** A live application needs a reason only for an added permission. */
function contentOfClient(client: OwnedClient): Content {
  const { name, clientUri, policyUri, contacts, redirectUris, scopes } = client;
  return { name, clientUri, policyUri, contacts, redirectUris, scopes };
}
