import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Req } from '@nestjs/common';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { button, postForm, selectField } from '#pages/components.js';
import type { Form } from '#pages/form.js';
import { Creates } from '#pages/form.interceptor.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { html } from '#ui/html.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { secretFacts } from '../requests/request.page.js';
import { Languages } from '../ui/i18n/languages.js';
import { confirmPage, noted, pathOf } from '../ui/parts.js';

/** Lifetimes of a secret, in days. */
const LIFETIMES = [30, 90, 180, 365];

@Controller('applications/:id/secrets')
export class SecretsController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly secrets: ClientSecretService,
    private readonly languages: Languages,
  ) {}

  @Get('new')
  @RecentLogin()
  async form(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    await this.applications.find(actorOf(developer), id);
    const { translator } = this.languages.viewer(developer, request);
    const days = { name: 'days', label: translator.text('secrets.expires'), value: '' };
    return {
      title: translator.text('secrets.create'),
      section: '/',
      content: html`<p>${translator.text('secrets.create_hint')}</p>
        ${postForm(
          developer,
          pathOf(id, 'secrets'),
          html`${selectField(days, [
              { value: '', text: translator.text('secrets.no_expiry') },
              ...LIFETIMES.map((count) => ({
                value: String(count),
                text: translator.text('secrets.days', { days: count }),
              })),
            ])}
            <div class="actions">
              ${button(translator.text('secrets.create'))}
              <a class="button even" href="${pathOf(id)}">${translator.text('cancel')}</a>
            </div>`,
        )}`,
    };
  }

  @Post()
  @RecentLogin()
  @SentFrom('secrets/new')
  @Creates()
  async create(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    const days = form.text('days');
    const input = days === '' ? {} : { expiresInDays: Number(days) };
    const { result, announced } = await this.secrets.rotate(actorOf(developer), id, {}, input);
    await announced;
    const viewer = this.languages.viewer(developer, request);
    const { translator } = viewer;
    return {
      title: translator.text('secrets.created'),
      status: 201,
      section: '/',
      content: html`${secretFacts(viewer, id, result.client_secret)}
        <p><a class="button" href="${pathOf(id)}">${translator.text('created.next')}</a></p>`,
    };
  }

  @Get(':secret/revoke')
  @RecentLogin()
  async confirm(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Param('secret') secret: string,
  ): Promise<Page> {
    await this.applications.find(actorOf(developer), id);
    const viewer = this.languages.viewer(developer, request);
    const { translator } = viewer;
    return confirmPage(viewer, {
      title: translator.text('secrets.revoke_title', { secret: secret.slice(0, 8) }),
      text: translator.text('secrets.revoke_text'),
      path: pathOf(id, 'secrets', secret, 'revoke'),
      button: translator.text('secrets.revoke'),
      back: pathOf(id),
    });
  }

  @Post(':secret/revoke')
  @RecentLogin()
  async revoke(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Param('secret') secret: string,
    @Body() _form: Form,
  ): Promise<HttpRedirectResponse> {
    const { announced } = await this.secrets.revoke(actorOf(developer), id, secret, true);
    await announced;
    return seeOther(noted(pathOf(id), 'revoked'));
  }
}
