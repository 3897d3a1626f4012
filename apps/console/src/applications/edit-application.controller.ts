import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { ClientService } from '#clients/operations/client.service.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import type { Form } from '#pages/form.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { SentBeforeLogin, SentFrom } from '#pages/kept-forms.service.js';
import { RequireRole } from '../session/operator-accounts.js';
import { RecentLogins } from '#pages/recent-logins.js';
import type { Page } from '#pages/page.responder.js';
import {
  changesOf,
  confirmationsOf,
  formOf,
  isDangerous,
  NO_PROBLEMS,
  problemsOf,
} from './application.form.js';
import { ApplicationPageService } from './application-page.service.js';
import { changes, differencePage, editPage, type EditView } from './edit-application.page.js';

/** Returns NaN, which `ClientService.update` refuses, for other notations of numbers such as 1e0 and 0x1. */
function versionOf(form: Form): number {
  const text = form.text('version');
  return /^\d{1,10}$/.test(text) ? Number(text) : NaN;
}

/** Changes a registration in two steps: the form, and the confirmation of the difference. */
@Controller('applications/:id')
@RequireRole('admin')
export class EditApplicationController {
  constructor(
    private readonly clients: ClientService,
    private readonly catalogue: ScopeCatalogue,
    private readonly recentLogins: RecentLogins,
    private readonly pages: ApplicationPageService,
  ) {}

  @Get('edit')
  async edit(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    const client = await this.clients.find(id);
    const { catalogue } = this;
    return editPage({ operator, client, form: sent ?? formOf(client), problems: NO_PROBLEMS, catalogue });
  }

  @Post('edit')
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

  @Post('save')
  @SentFrom('edit')
  async save(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    return this.orForm(operator, id, form, async () => {
      const client = await this.clients.find(id);
      if (isDangerous(client, form)) this.recentLogins.require(operator);
      // Updates only the version that was checked above, because the change may be dangerous for a later version.
      const expectedVersion = Math.min(versionOf(form), client.version);
      const input = { ...changesOf(form), expectedVersion };
      const { result, announced } = await this.clients.update(actorOf(operator), client.client_id, input);
      return this.pages.show(operator, result.client, {
        note: 'The changes are saved.',
        warnings: await announced,
      });
    });
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
      if (error.kind === 'unconfirmed') {
        const confirmations = [...confirmationsOf(form), ...error.problems.map(({ id: name }) => name)];
        return differencePage({ ...view, confirmations });
      }
      if (error.kind === 'outdated') return this.outdated(view);
      throw error;
    }
  }

  /** Shows what the form would change now; nothing, if the operator has already sent the same change. */
  private outdated(view: EditView): Promise<Page> | Page {
    const { operator, client, form } = view;
    if (!changes(client, form)) return this.pages.show(operator, client, { note: 'The changes are saved.' });
    form.set('version', String(client.version));
    const text = 'The application has changed since you opened the form. Check what would change now.';
    return differencePage({ ...view, problems: new Map([['', [text]]]) });
  }
}
