import { Body, Controller, Get, Header, Param, Post } from '@nestjs/common';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import { ClientService } from '#clients/operations/client.service.js';
import type { Change } from '#operations/audit-trail.js';
import { Creates } from '#pages/form.interceptor.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { PrivilegedAccounts } from '../session/privileged-accounts.js';
import type { Notices } from '#pages/components.js';
import { noticesOf } from '../ui/console-components.js';
import { confirmPage, type ConfirmView, unconfirmedPage } from '../ui/confirm.page.js';
import { Form, QueryForm } from '#pages/form.js';
import { FILTERS } from '../ui/list.page.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import {
  applicationLabel,
  applicationsPage,
  handoverPage,
  newSecretPage,
  pathOf,
} from './application.page.js';
import { ApplicationPageService } from './application-page.service.js';

const EFFECTS = {
  disable:
    '{grants, plural, =0 {No user has allowed it access.} one {One grant has no effect until it is enabled.} other {# grants{users, plural, =0 {} one { of one user} other { of # users}} have no effect until it is enabled.}} It gets no tokens, and users who come from it see an error page.',
  delete:
    '{grants, plural, =0 {No user has allowed it access.} one {One grant ends immediately.} other {# grants{users, plural, =0 {} one { of one user} other { of # users}} end immediately.}} {secrets, plural, =0 {} one {Its secret stops working.} other {Its # secrets stop working.}} Its client ID is never assigned again.',
};

const CONSOLE_CLIENT = {
  disable:
    'Operators log in to this console by this application: nobody could log in here. The way back is: operator client enable {id}',
  delete:
    'Operators log in to this console by this application: nobody could log in here until CONSOLE_CLIENT_ID names another one.',
  revoke:
    'Operators log in to this console by this application: nobody could log in here until CONSOLE_CLIENT_SECRET is another secret. The way back is: operator client secret rotate {id}',
};

@Controller('applications')
export class ApplicationsController {
  constructor(
    private readonly clients: ClientService,
    private readonly secrets: ClientSecretService,
    private readonly privileged: PrivilegedAccounts,
    private readonly pages: ApplicationPageService,
  ) {}

  @Get()
  list(@CurrentOperator() operator: Operator, @QueryForm() query: Form): Promise<Page> {
    return this.listPage(operator, query);
  }

  @Get(':id')
  async show(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    return this.pages.show(operator, await this.clients.find(id));
  }

  @Get(':id/disable')
  @RequireRole('support')
  async confirmDisable(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    return confirmPage(await this.confirmation(operator, id, 'disable'));
  }

  @Post(':id/disable')
  @RequireRole('support')
  async disable(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    const unconfirmed = unconfirmedPage(await this.confirmation(operator, id, 'disable'), form);
    if (unconfirmed) return unconfirmed;
    const confirmed = form.text('confirmConsole') === 'true';
    const change = this.clients.disable(actorOf(operator), id, {}, confirmed);
    return this.changed(operator, id, change, 'The application is disabled. It can no longer get tokens.');
  }

  @Post(':id/enable')
  @SentFrom('.')
  @RequireRole('support')
  async enable(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    const change = this.clients.enable(actorOf(operator), id);
    return this.changed(operator, id, change, 'The application is enabled.');
  }

  @Get(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async confirmDelete(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    return confirmPage(await this.confirmation(operator, id, 'delete'));
  }

  @Post(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async delete(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    const unconfirmed = unconfirmedPage(await this.confirmation(operator, id, 'delete'), form);
    if (unconfirmed) return unconfirmed;
    const confirmed = form.text('confirmConsole') === 'true';
    const change = this.clients.delete(actorOf(operator), id, {}, confirmed);
    return this.listPage(operator, new Form(), await noticesOf('The application is deleted.', change));
  }

  @Get(':id/secrets/new')
  @RequireRole('admin')
  @RecentLogin()
  async confirmSecret(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    return confirmPage({
      operator,
      section: '/applications',
      title: 'Create a new secret?',
      subject: applicationLabel(await this.clients.find(id)),
      text: 'The current secret keeps working until you revoke it. An application can have two secrets.',
      path: pathOf(id, 'secrets/new'),
      button: 'Create the secret',
      look: '',
      back: pathOf(id),
    });
  }

  @Post(':id/secrets/new')
  @RequireRole('admin')
  @RecentLogin()
  @Creates()
  async createSecret(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    const { result, announced } = await this.secrets.rotate(actorOf(operator), id);
    return newSecretPage(await this.clients.find(id), result.client_secret, await announced);
  }

  @Get(':id/secrets/:secret/revoke')
  @RequireRole('admin')
  @RecentLogin()
  async confirmRevoke(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Param('secret') secret: string,
  ): Promise<Page> {
    const client = await this.clients.find(id);
    const isLast = client.live_secrets === 1;
    return confirmPage({
      operator,
      section: '/applications',
      warnings:
        isLast && this.clients.isConsole(client)
          ? [phrase(CONSOLE_CLIENT.revoke, { id: client.client_id })]
          : [],
      title: phrase('Revoke the secret {secret}?', { secret }),
      subject: applicationLabel(client),
      text: !isLast
        ? 'The application can then use only its other secret.'
        : 'It is the last secret. Without it, the application cannot authenticate.',
      path: pathOf(id, `secrets/${encodeURIComponent(secret)}/revoke`),
      button: 'Revoke',
      back: pathOf(id),
      fields: [['last', String(isLast)]],
    });
  }

  /** Revokes the last secret only if the confirmation page warned that it is the last one. */
  @Post(':id/secrets/:secret/revoke')
  @RequireRole('admin')
  @RecentLogin()
  async revokeSecret(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Param('secret') secret: string,
    @Body() form: Form,
  ): Promise<Page> {
    const isLast = form.text('last') === 'true';
    const change = this.secrets.revoke(actorOf(operator), id, secret, isLast);
    return this.changed(operator, id, change, 'The secret is revoked.');
  }

  @Get(':id/handover')
  async handover(@Param('id') id: string): Promise<Page> {
    const { markdown, warnings } = await this.clients.handover(id, {});
    return handoverPage(await this.clients.find(id), markdown, warnings);
  }

  @Get(':id/handover.md')
  @Header('Content-Type', 'text/markdown; charset=utf-8')
  @Header('Content-Disposition', 'attachment; filename="handover.md"')
  async handoverFile(@Param('id') id: string): Promise<string> {
    return (await this.clients.handover(id, {})).markdown;
  }

  private async confirmation(
    operator: Operator,
    id: string,
    action: 'disable' | 'delete',
  ): Promise<ConfirmView> {
    const client = await this.clients.find(id);
    this.privileged.checkApplication(operator, client);
    const { grants, users } = await this.clients.countGrants(id);
    const isConsole = this.clients.isConsole(client);
    return {
      operator,
      section: '/applications',
      warnings: isConsole ? [phrase(CONSOLE_CLIENT[action], { id: client.client_id })] : [],
      title: action === 'delete' ? 'Delete this application?' : 'Disable this application?',
      subject: applicationLabel(client),
      text: phrase(EFFECTS[action], { grants, users: users ?? 0, secrets: client.live_secrets }),
      path: pathOf(id, action),
      button: action === 'delete' ? 'Delete' : 'Disable',
      back: pathOf(id),
      fields: [['grants', String(grants)], ...(isConsole ? [['confirmConsole', 'true'] as const] : [])],
    };
  }

  private async listPage(operator: Operator, query: Form, changed?: Notices): Promise<Page> {
    const [filter, position] = [query.filled(...FILTERS), query.filled('cursor')];
    const [page, count] = await Promise.all([
      this.clients.list({ ...filter, ...position, limit: 50 }),
      this.clients.count(filter),
    ]);
    return applicationsPage(operator, { ...page, count }, { ...filter, ...position }, changed);
  }

  private async changed(
    operator: Operator,
    id: string,
    change: Promise<Change<unknown>>,
    note: string,
  ): Promise<Page> {
    const changed = await noticesOf(note, change);
    return this.pages.show(operator, await this.clients.find(id), changed);
  }
}
