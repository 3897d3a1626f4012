import { Body, Controller, Get, Header, Param, Post } from '@nestjs/common';
import { AdministrationError } from '#administration/administration.error.js';
import type { ClientView } from '#administration/client/client.description.js';
import { ClientSecretService } from '#administration/client/client-secret.service.js';
import { ClientService } from '#administration/client/client.service.js';
import type { Change } from '#administration/operation.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { Creates } from '../session/form.interceptor.js';
import { SentBeforeLogin, SentFrom } from '../session/kept-forms.service.js';
import { RecentLogin, RequireRole } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { PrivilegedAccounts } from '../session/privileged-accounts.js';
import { RecentLogins } from '../session/recent-logins.js';
import type { Notices } from '../ui/components.js';
import { confirmPage, type ConfirmView, unconfirmedPage } from '../ui/confirm.page.js';
import { Form, QueryForm } from '../form.js';
import { FILTERS } from '../ui/list.page.js';
import type { Page } from '../ui/page.responder.js';
import { t } from '../ui/text.js';
import { changesOf, formOf, isDangerous, NO_PROBLEMS, problemsOf } from './application.form.js';
import {
  applicationPage,
  applicationsPage,
  handoverPage,
  newSecretPage,
  applicationLabel,
} from './application.page.js';
import { changes, differencePage, editPage, type EditView } from './edit-application.page.js';
import { pathOf } from './paths.js';

const EFFECTS = {
  disable:
    '{grants, plural, =0 {No user has allowed it access.} one {One grant has no effect until it is enabled.} other {# grants of {users, plural, one {one user} other {# users}} have no effect until it is enabled.}} It gets no tokens, and users who come from it see an error page.',
  delete:
    '{grants, plural, =0 {No user has allowed it access.} one {One grant ends immediately.} other {# grants of {users, plural, one {one user} other {# users}} end immediately.}} {secrets, plural, =0 {} one {Its secret stops working.} other {Its # secrets stop working.}} Its client ID is never assigned again.',
};

const CONSOLE_CLIENT = {
  disable:
    'Operators log in to this console by this application: nobody could log in here. The way back is: operator client enable {id}',
  delete:
    'Operators log in to this console by this application: nobody could log in here until CONSOLE_CLIENT_ID names another one.',
};

@Controller('applications')
export class ApplicationsController {
  constructor(
    private readonly clients: ClientService,
    private readonly secrets: ClientSecretService,
    private readonly catalogue: ScopeCatalogue,
    private readonly recentLogins: RecentLogins,
    private readonly privileged: PrivilegedAccounts,
  ) {}

  @Get()
  list(@CurrentOperator() operator: Operator, @QueryForm() query: Form): Promise<Page> {
    return this.listPage(operator, query);
  }

  @Get(':id')
  async show(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    return this.page(operator, await this.clients.find(id));
  }

  @Get(':id/edit')
  @RequireRole('admin')
  async edit(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    const client = await this.clients.find(id);
    const { catalogue } = this;
    return editPage({ operator, client, form: sent ?? formOf(client), problems: NO_PROBLEMS, catalogue });
  }

  @Post(':id/edit')
  @RequireRole('admin')
  async preview(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    return this.orForm(operator, id, form, async () => {
      const client = await this.clients.checkUpdate(id, changesOf(form));
      if (isDangerous(client, form)) this.recentLogins.require(operator);
      return differencePage({ operator, client, form, problems: NO_PROBLEMS });
    });
  }

  @Post(':id/save')
  @SentFrom('edit')
  @RequireRole('admin')
  async save(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    return this.orForm(operator, id, form, async () => {
      const client = await this.clients.find(id);
      if (isDangerous(client, form)) this.recentLogins.require(operator);
      // Updates only the version that was checked above, because the change may be dangerous for a later version.
      const expectedVersion = Math.min(Number(form.text('version')), client.version);
      const input = { ...changesOf(form), expectedVersion };
      const { result, announced } = await this.clients.update(actorOf(operator), client.client_id, input);
      return this.page(operator, result.client, {
        note: t('The changes are saved.'),
        warnings: await announced,
      });
    });
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
    return this.changed(operator, id, change, t('The application is disabled. It can no longer get tokens.'));
  }

  @Post(':id/enable')
  @SentFrom('.')
  @RequireRole('support')
  async enable(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    await this.privileged.checkApplication(operator, id);
    const change = this.clients.enable(actorOf(operator), id);
    return this.changed(operator, id, change, t('The application is enabled.'));
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
    const { announced } = await this.clients.delete(actorOf(operator), id, {}, confirmed);
    const changed = { note: t('The application is deleted.'), warnings: await announced };
    return this.listPage(operator, new Form(), changed);
  }

  @Get(':id/secrets/new')
  @RequireRole('admin')
  @RecentLogin()
  async confirmSecret(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    return confirmPage({
      operator,
      section: '/applications',
      title: t('Create a new secret?'),
      subject: applicationLabel(await this.clients.find(id)),
      text: t('The current secret keeps working until you revoke it. An application can have two secrets.'),
      path: pathOf(id, 'secrets/new'),
      button: t('Create the secret'),
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
      title: t('Revoke the secret {secret}?', { secret }),
      subject: applicationLabel(client),
      text: !isLast
        ? t('The application can then use only its other secret.')
        : t('It is the last secret. Without it, the application cannot authenticate.'),
      path: pathOf(id, `secrets/${encodeURIComponent(secret)}/revoke`),
      button: t('Revoke'),
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
    return this.changed(operator, id, change, t('The secret is revoked.'));
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
    const { grants, users } = await this.clients.countGrants(id);
    const isConsole = this.clients.isConsole(client);
    return {
      operator,
      section: '/applications',
      warnings: isConsole ? [t(CONSOLE_CLIENT[action], { id: client.client_id })] : [],
      title: action === 'delete' ? t('Delete this application?') : t('Disable this application?'),
      subject: applicationLabel(client),
      text: t(EFFECTS[action], { grants, users, secrets: client.live_secrets }),
      path: pathOf(id, action),
      button: action === 'delete' ? t('Delete') : t('Disable'),
      back: pathOf(id),
      fields: [['grants', String(grants)], ...(isConsole ? [['confirmConsole', 'true'] as const] : [])],
    };
  }

  /** Shows the problems of an invalid change, or the difference if the change must be confirmed. */
  private async orForm(operator: Operator, id: string, form: Form, work: () => Promise<Page>): Promise<Page> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AdministrationError)) throw error;
      const { catalogue } = this;
      const client = await this.clients.find(id);
      const view = { operator, client, form, problems: problemsOf(error), catalogue };
      if (error.kind === 'invalid') return editPage(view);
      if (error.kind === 'unconfirmed') return differencePage(view);
      if (error.kind === 'outdated') return this.outdated(view);
      throw error;
    }
  }

  /** Shows what the form would change now; nothing, if the operator has already sent the same change. */
  private outdated(view: EditView): Promise<Page> | Page {
    const { operator, client, form } = view;
    if (!changes(client, form)) return this.page(operator, client, { note: t('The changes are saved.') });
    form.set('version', String(client.version));
    const text = t('The application has changed since you opened the form. Check what would change now.');
    return differencePage({ ...view, problems: new Map([['', [text]]]), status: 409 });
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
    const { announced } = await change;
    const warnings = await announced;
    return this.page(operator, await this.clients.find(id), { note, warnings });
  }

  private async page(operator: Operator, client: ClientView, changed: Notices = {}): Promise<Page> {
    const { auth_method: method, client_id: id } = client;
    const secrets = method === 'client_secret' ? (await this.secrets.list(id)).secrets : [];
    const mayEnable = this.privileged.mayEnableApplication(operator, client);
    return applicationPage({ operator, client, secrets, mayEnable, changed });
  }
}
