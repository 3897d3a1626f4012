import { Body, Controller, Get, Header, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AdministrationError } from '#administration/administration.error.js';
import { ClientSecretService } from '#administration/client/client-secret.service.js';
import { ClientService } from '#administration/client/client.service.js';
import { html } from '#ui/html.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { RecentLogin, RequireRole } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../session/operator.js';
import { Form, queryOf } from '../ui/form.js';
import { PageResponder } from '../ui/page.responder.js';
import { t } from '../ui/text.js';
import { changesOf, formOf, NO_PROBLEMS, problemsOf } from './application.form.js';
import {
  applicationPage,
  applicationsPage,
  confirmPage,
  handoverPage,
  newSecretPage,
} from './application.page.js';
import { differencePage, editPage } from './edit-application.page.js';
import { pathOf } from './paths.js';

@Controller('applications')
export class ApplicationsController {
  constructor(
    private readonly clients: ClientService,
    private readonly secrets: ClientSecretService,
    private readonly catalogue: ScopeCatalogue,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  async list(
    @CurrentOperator() operator: Operator,
    @Req() { url }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const query = queryOf(url);
    const [search, after] = [query.text('search'), query.text('after')];
    const found = await this.clients.list({ ...(search && { search }), ...(after && { after }), limit: 50 });
    this.pages.page(reply, 200, applicationsPage(operator, found, search));
  }

  @Get(':id')
  async show(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, operator, id);
  }

  @Get(':id/edit')
  @RequireRole('admin')
  async edit(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const client = await this.clients.find(id);
    const view = { operator, client, form: formOf(client), problems: NO_PROBLEMS, catalogue: this.catalogue };
    this.pages.page(reply, 200, editPage(view));
  }

  @Post(':id/edit')
  @RequireRole('admin')
  async preview(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const client = await this.clients.find(id);
    this.pages.page(reply, 200, differencePage({ operator, client, form, problems: NO_PROBLEMS }));
  }

  @Post(':id/save')
  @RequireRole('admin')
  async save(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const expectedVersion = Number(form.text('version'));
    try {
      const { announced } = await this.clients.update(actorOf(operator), id, {
        ...changesOf(form),
        expectedVersion,
      });
      await this.page(reply, operator, id, t('The changes are saved.'), await announced);
    } catch (error) {
      if (!(error instanceof AdministrationError)) throw error;
      const view = { operator, client: await this.clients.find(id), form, problems: problemsOf(error) };
      if (error.kind === 'invalid')
        this.pages.page(reply, 400, editPage({ ...view, catalogue: this.catalogue }));
      else if (error.kind === 'unconfirmed') this.pages.page(reply, 409, differencePage(view));
      else throw error;
    }
  }

  @Post(':id/disable')
  @RequireRole('support')
  async disable(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { announced } = await this.clients.disable(actorOf(operator), id);
    await this.page(
      reply,
      operator,
      id,
      t('The application is disabled: it gets no tokens.'),
      await announced,
    );
  }

  @Post(':id/enable')
  @RequireRole('support')
  async enable(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { announced } = await this.clients.enable(actorOf(operator), id);
    await this.page(reply, operator, id, t('The application is enabled.'), await announced);
  }

  @Get(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async confirmDelete(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const client = await this.clients.find(id);
    const count = await this.clients.countGrants(id);
    const text = t(
      '{count, plural, =0 {No user has allowed it access.} one {The access that one user allowed ends at once.} other {The access that users allowed # times ends at once.}} Its client id is never assigned again.',
      { count },
    );
    const [title, path] = [t('Delete this application?'), pathOf(id, 'delete')];
    this.pages.page(
      reply,
      200,
      confirmPage({ operator, client, title, text, path, button: t('Delete'), look: 'danger' }),
    );
  }

  @Post(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async delete(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await (
      await this.clients.delete(actorOf(operator), id)
    ).announced;
    this.pages.seeOther(reply, '/applications');
  }

  @Get(':id/secrets/new')
  @RequireRole('admin')
  @RecentLogin()
  async confirmSecret(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const client = await this.clients.find(id);
    const text = t('The present secret keeps working until you revoke it. At most two are live.');
    const [title, path] = [t('A new secret?'), pathOf(id, 'secrets/new')];
    this.pages.page(
      reply,
      200,
      confirmPage({ operator, client, title, text, path, button: t('Create the secret') }),
    );
  }

  @Post(':id/secrets/new')
  @RequireRole('admin')
  @RecentLogin()
  async createSecret(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { result, announced } = await this.secrets.rotate(actorOf(operator), id);
    const client = await this.clients.find(id);
    this.pages.page(reply, 201, newSecretPage(operator, client, result.client_secret, await announced));
  }

  @Get(':id/secrets/:secret/revoke')
  @RequireRole('admin')
  @RecentLogin()
  async confirmRevoke(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Param('secret') secret: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const client = await this.clients.find(id);
    const isLast = client.live_secrets === 1;
    const text = !isLast
      ? t('The application can then use only its other secret.')
      : t('It is the last one: without it the application cannot authenticate.');
    const path = pathOf(id, `secrets/${encodeURIComponent(secret)}/revoke`);
    const title = t('Revoke the secret {secret}?', { secret });
    const fields = html`<input type="hidden" name="last" value="${String(isLast)}" />`;
    this.pages.page(
      reply,
      200,
      confirmPage({ operator, client, title, text, path, button: t('Revoke'), fields, look: 'danger' }),
    );
  }

  /** Revokes the last secret only if the page before has said that it is the last one. */
  @Post(':id/secrets/:secret/revoke')
  @RequireRole('admin')
  @RecentLogin()
  async revokeSecret(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Param('secret') secret: string,
    @Body() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { announced } = await this.secrets.revoke(
      actorOf(operator),
      id,
      secret,
      form.text('last') === 'true',
    );
    await this.page(reply, operator, id, t('The secret is revoked.'), await announced);
  }

  @Get(':id/handover')
  async handover(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { markdown, warnings } = await this.clients.handover(id, {});
    this.pages.page(reply, 200, handoverPage(operator, await this.clients.find(id), markdown, warnings));
  }

  @Get(':id/handover.md')
  @Header('Content-Type', 'text/markdown; charset=utf-8')
  @Header('Content-Disposition', 'attachment; filename="handover.md"')
  async handoverFile(@Param('id') id: string): Promise<string> {
    return (await this.clients.handover(id, {})).markdown;
  }

  private async page(
    reply: FastifyReply,
    operator: Operator,
    id: string,
    note?: string,
    warnings: readonly string[] = [],
  ): Promise<void> {
    const client = await this.clients.find(id);
    const secrets = client.auth_method === 'client_secret' ? (await this.secrets.list(id)).secrets : [];
    this.pages.page(
      reply,
      200,
      applicationPage({ operator, client, secrets, ...(note !== undefined && { note }), warnings }),
    );
  }
}
