import { Body, Controller, Get, type HttpRedirectResponse, Param, Post } from '@nestjs/common';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { button, postForm, selectField } from '#pages/components.js';
import type { Form } from '#pages/form.js';
import { Creates } from '#pages/form.interceptor.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { html } from '#ui/html.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { secretFacts } from '../requests/request.page.js';
import { confirmPage, noted, pathOf } from '../ui/parts.js';

/** Lifetimes of a secret, in days. */
const LIFETIMES = [30, 90, 180, 365];

@Controller('applications/:id/secrets')
export class SecretsController {
  constructor(private readonly secrets: ClientSecretService) {}

  @Get('new')
  @RecentLogin()
  async form(@CurrentViewer() viewer: Viewer, @Application() { clientId }: OwnedClient): Promise<Page> {
    const { translator, developer } = viewer;
    const days = { name: 'days', label: translator.text('secrets.expires'), value: '' };
    return {
      title: translator.text('secrets.create'),
      section: '/',
      content: html`<p>${translator.text('secrets.create_hint')}</p>
        ${postForm(
          developer,
          pathOf(clientId, 'secrets'),
          html`${selectField(days, [
              { value: '', text: translator.text('secrets.no_expiry') },
              ...LIFETIMES.map((count) => ({
                value: String(count),
                text: translator.text('secrets.days', { days: count }),
              })),
            ])}
            <div class="actions">
              ${button(translator.text('secrets.create'))}
              <a class="button even" href="${pathOf(clientId)}">${translator.text('cancel')}</a>
            </div>`,
        )}`,
    };
  }

  @Post()
  @RecentLogin()
  @SentFrom('secrets/new')
  @Creates()
  async create(@CurrentViewer() viewer: Viewer, @Param('id') id: string, @Body() form: Form): Promise<Page> {
    const days = form.text('days');
    const input = days === '' ? {} : { expiresInDays: Number(days) };
    const { result, announced } = await this.secrets.rotate(viewer.actor, id, {}, input);
    await announced;
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
    @CurrentViewer() viewer: Viewer,
    @Application() { clientId }: OwnedClient,
    @Param('secret') secret: string,
  ): Promise<Page> {
    const { translator } = viewer;
    return confirmPage(viewer, {
      title: translator.text('secrets.revoke_title', { secret: secret.slice(0, 8) }),
      text: translator.text('secrets.revoke_text'),
      path: pathOf(clientId, 'secrets', secret, 'revoke'),
      button: translator.text('secrets.revoke'),
      back: pathOf(clientId),
    });
  }

  @Post(':secret/revoke')
  @RecentLogin()
  async revoke(
    @CurrentViewer() { actor }: Viewer,
    @Param('id') id: string,
    @Param('secret') secret: string,
  ): Promise<HttpRedirectResponse> {
    const { announced } = await this.secrets.revoke(actor, id, secret, true);
    await announced;
    return seeOther(noted(pathOf(id), 'revoked'));
  }
}
