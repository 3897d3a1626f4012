import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Req } from '@nestjs/common';
import type { RequestView } from '#clients/operations/requests/request.description.js';
import { RequestService } from '#clients/operations/requests/request.service.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { AdministrationError, refused } from '#operations/administration.error.js';
import { type Form, queryOf } from '#pages/form.js';
import { Creates } from '#pages/form.interceptor.js';
import { SentBeforeLogin, SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { problem } from '#platform/validation/problem.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { Languages } from '../ui/i18n/languages.js';
import { noted } from '../ui/parts.js';
import { type Content, contentOf, problemsOf } from './request.form.js';
import { createdPage, requestFormPage, requestPage } from './request.page.js';

@Controller('requests')
export class RequestsController {
  constructor(
    private readonly requests: RequestService,
    private readonly catalogue: ScopeCatalogue,
    private readonly languages: Languages,
  ) {}

  @Get('new')
  newRequest(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @SentBeforeLogin() sent: Form | null,
  ): Page {
    const content = sent ? contentOf(sent) : {};
    return requestFormPage({
      ...this.languages.viewer(developer, request),
      draft: null,
      content,
      catalogue: this.catalogue,
    });
  }

  /** Keeps the draft even if it cannot be submitted. */
  @Post()
  @SentFrom('requests/new')
  @Creates()
  async create(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Body() form: Form,
  ): Promise<Page | HttpRedirectResponse> {
    const draft = await this.requests.createDraft(actorOf(developer), contentOf(form));
    return form.text('action') === 'submit'
      ? this.submit(developer, request, draft)
      : seeOther(noted(`/requests/${draft.id}`, 'saved'));
  }

  @Get(':id')
  async show(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    const { request: found, messages } = await this.requests.find(actorOf(developer), id);
    const viewer = { ...this.languages.viewer(developer, request), catalogue: this.catalogue };
    const note = queryOf(request.url).get('note');
    return found.status === 'draft'
      ? requestFormPage({
          ...viewer,
          draft: found,
          content: sent ? contentOf(sent) : (found.content as Content),
          note,
        })
      : requestPage({ ...viewer, request: found, messages, note });
  }

  @Post(':id')
  @Creates()
  async save(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page | HttpRedirectResponse> {
    const { request: before } = await this.requests.find(actorOf(developer), id);
    const content = contentOf(form, before.content as Content);
    const draft = await this.requests.saveDraft(actorOf(developer), id, versionOf(form), content);
    return form.text('action') === 'submit'
      ? this.submit(developer, request, draft)
      : seeOther(noted(`/requests/${id}`, 'saved'));
  }

  @Post(':id/messages')
  @SentFrom('.')
  async answer(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    await this.requests.answer(actorOf(developer), id, { ...versionOf(form), text: form.text('text') });
    return seeOther(noted(`/requests/${id}`, 'sent'));
  }

  /** Deletes a draft, or withdraws a change. */
  @Post(':id/withdraw')
  @SentFrom('.')
  async withdraw(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    const { status } = (await this.requests.find(actorOf(developer), id)).request;
    if (status === 'draft') {
      await this.requests.deleteDraft(actorOf(developer), id, versionOf(form));
      return seeOther(noted('/', 'changed'));
    }
    await this.requests.withdraw(actorOf(developer), id, versionOf(form));
    return seeOther(noted(`/requests/${id}`, 'changed'));
  }

  /** Copies a rejected registration into a draft for the same application. */
  @Post(':id/again')
  @SentFrom('.')
  @Creates()
  async requestAgain(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Body() _form: Form,
  ): Promise<HttpRedirectResponse> {
    const {
      content,
      status,
      client_id: clientId,
    } = (await this.requests.find(actorOf(developer), id)).request;
    if (status !== 'rejected' || clientId === null)
      throw refused('conflict', problem('request_not_open', [], { id, status }));
    const draft = await this.requests.createDraft(actorOf(developer), content, clientId);
    return seeOther(`/requests/${draft.id}`);
  }

  private async submit(
    developer: Developer,
    request: DeveloperRequest,
    draft: RequestView,
  ): Promise<Page | HttpRedirectResponse> {
    const viewer = this.languages.viewer(developer, request);
    const content = draft.content as Content;
    try {
      const { id, version } = draft;
      const { result } = await this.requests.submit(actorOf(developer), id, { version });
      return result.client
        ? createdPage(viewer, String(content['name']), result.client)
        : seeOther(noted(`/requests/${id}`, 'proposed'));
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind !== 'invalid') throw error;
      const problems = problemsOf(viewer.translator, error);
      return requestFormPage({ ...viewer, draft, content, catalogue: this.catalogue, problems });
    }
  }
}

/** The version that the user has read, so that no change of another owner is lost. */
const versionOf = (form: Form) => ({ version: Number(form.text('version')) });
