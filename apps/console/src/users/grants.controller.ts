import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { AdministrationError } from '#operations/administration.error.js';
import { GrantService } from '#grants/operations/grant.service.js';
import { SentBeforeLogin, SentFrom } from '../session/kept-forms.service.js';
import { RequireRole } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import type { Notices } from '../ui/components.js';
import { Form, QueryForm } from '../form.js';
import type { Page } from '../ui/page.responder.js';
import { grantsPage } from './users.page.js';

@Controller('grants')
export class GrantsController {
  constructor(private readonly grants: GrantService) {}

  @Get()
  list(
    @CurrentOperator() operator: Operator,
    @QueryForm() query: Form,
    @SentBeforeLogin() sent: Form | null,
  ): Promise<Page> {
    return this.page(operator, sent ?? query);
  }

  @Post(':id/revoke')
  @SentFrom('/grants')
  @RequireRole('support')
  async revoke(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    const { announced } = await this.grants.revoke(actorOf(operator), id);
    const changed = { note: 'The grant is revoked.', warnings: await announced };
    try {
      return await this.page(operator, form, changed);
    } catch (error) {
      if (!(error instanceof AdministrationError)) throw error;
      // The grant is revoked even if the selected user or client was deleted after the list was shown.
      return this.page(operator, new Form(), changed);
    }
  }

  private async page(operator: Operator, form: Form, changed?: Notices): Promise<Page> {
    const selection = form.filled('user', 'client');
    const grants = await this.grants.list({ ...selection, ...form.filled('cursor'), limit: 50 });
    return grantsPage(operator, grants, selection, changed);
  }
}
