import { Body, Controller, Get, type HttpRedirectResponse, Param, Post } from '@nestjs/common';
import type { RequestView } from '#clients/operations/requests/request.description.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { refused } from '#platform/validation/administration.error.js';
import { type Form } from '#pages/form.js';
import { Creates } from '#pages/form.interceptor.js';
import { SentBeforeLogin, SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { problem } from '#platform/validation/problem.js';
import { CurrentViewer, type Viewer } from '../developer.js';
import { noted } from '../ui/parts.js';
import { type Content, contentOf, unlessInvalid } from './request.form.js';
import { createdPage, requestFormPage, requestPage } from './request.page.js';

@Controller('requests')
export class RequestsController {
  constructor(
    private readonly requests: RequestService,
    private readonly catalogue: ScopeCatalogue,
  ) {}

  @Get('new')
  newRequest(@CurrentViewer() viewer: Viewer, @SentBeforeLogin() sent: Form | null): Page {
    const content = sent ? contentOf(sent) : {};
    return requestFormPage({ ...viewer, draft: null, content, catalogue: this.catalogue });
  }

  /** Keeps the draft even if it cannot be submitted. */
  @Post()
  @SentFrom('requests/new')
  @Creates()
  async create(@CurrentViewer() viewer: Viewer, @Body() form: Form): Promise<Page | HttpRedirectResponse> {
    const draft = await this.requests.createDraft(viewer.actor, contentOf(form));
    return form.text('action') === 'submit'
      ? this.submit(viewer, draft)
      : seeOther(noted(`/requests/${draft.id}`, 'saved'));
  }

  @Get(':id')
  async show(
    @CurrentViewer() viewer: Viewer,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    const { request: found, messages } = await this.requests.find(viewer.actor, id);
    const view = { ...viewer, catalogue: this.catalogue };
    if (found.status !== 'draft') return requestPage({ ...view, request: found, messages });
    const content = sent ? contentOf(sent) : (found.content as Content);
    return requestFormPage({ ...view, draft: found, content });
  }

  @Post(':id')
  @Creates()
  async save(
    @CurrentViewer() viewer: Viewer,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page | HttpRedirectResponse> {
    const { request: before } = await this.requests.find(viewer.actor, id);
    const content = contentOf(form, before.content as Content);
    const draft = await this.requests.saveDraft(viewer.actor, id, versionOf(form), content);
    return form.text('action') === 'submit'
      ? this.submit(viewer, draft)
      : seeOther(noted(`/requests/${id}`, 'saved'));
  }

  @Post(':id/messages')
  @SentFrom('.')
  async answer(
    @CurrentViewer() { actor }: Viewer,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    await this.requests.answer(actor, id, { ...versionOf(form), text: form.text('text') });
    return seeOther(noted(`/requests/${id}`, 'sent'));
  }

  /** Deletes a draft, or withdraws a change. */
  @Post(':id/withdraw')
  @SentFrom('.')
  async withdraw(
    @CurrentViewer() { actor }: Viewer,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    const { status } = (await this.requests.find(actor, id)).request;
    if (status === 'draft') {
      await this.requests.deleteDraft(actor, id, versionOf(form));
      return seeOther(noted('/', 'changed'));
    }
    await this.requests.withdraw(actor, id, versionOf(form));
    return seeOther(noted(`/requests/${id}`, 'changed'));
  }

  /** Copies a rejected registration into a draft for the same application. */
  @Post(':id/again')
  @SentFrom('.')
  @Creates()
  async requestAgain(
    @CurrentViewer() { actor }: Viewer,
    @Param('id') id: string,
  ): Promise<HttpRedirectResponse> {
    const { content, status, client_id: clientId } = (await this.requests.find(actor, id)).request;
    if (status !== 'rejected' || clientId === null)
      throw refused('conflict', problem('request_not_open', [], { id, status }));
    const draft = await this.requests.createDraft(actor, content, clientId);
    return seeOther(`/requests/${draft.id}`);
  }

  private async submit(viewer: Viewer, draft: RequestView): Promise<Page | HttpRedirectResponse> {
    const content = draft.content as Content;
    const { id, version } = draft;
    const submitted = this.requests
      .submit(viewer.actor, id, { version })
      .then(({ result }) =>
        result.client
          ? createdPage(viewer, String(content['name']), result.client)
          : seeOther(noted(`/requests/${id}`, 'proposed')),
      );
    return unlessInvalid(viewer.translator, submitted, (problems) =>
      requestFormPage({ ...viewer, draft, content, catalogue: this.catalogue, problems }),
    );
  }
}

/** The version that the user has read, so that no change of another owner is lost. */
const versionOf = (form: Form) => ({ version: Number(form.text('version')) });
