import { Controller, Get, type HttpRedirectResponse, Param, Post, Redirect } from '@nestjs/common';
import { GrantService } from '#administration/grant/grant.service.js';
import { RequireRole } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../session/operator.js';
import { type Form, QueryForm } from '../ui/form.js';
import { type Page, seeOther } from '../ui/page.responder.js';
import { grantsPage } from './users.page.js';

@Controller('grants')
export class GrantsController {
  constructor(private readonly grants: GrantService) {}

  @Get()
  async list(@CurrentOperator() operator: Operator, @QueryForm() query: Form): Promise<Page> {
    const selection = selectionOf(query);
    const before = query.text('after');
    const found = await this.grants.list({ ...selection, ...(before && { before }), limit: 50 });
    return grantsPage(operator, found, selection);
  }

  @Post(':id/revoke')
  @RequireRole('support')
  @Redirect()
  async revoke(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
  ): Promise<HttpRedirectResponse> {
    const { user_id: userId } = await this.grants.find(id);
    const { announced } = await this.grants.revoke(actorOf(operator), id);
    await announced;
    return seeOther(`/users/${userId}`);
  }
}

/** The user, the application or both that select the grants. */
function selectionOf(form: Form): Readonly<Record<string, string>> {
  const [user, client] = [form.text('user'), form.text('client')];
  return { ...(user && { user }), ...(client && { client }) };
}
