import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Redirect } from '@nestjs/common';
import { GrantService } from '#administration/grant/grant.service.js';
import { RecentLogin, RequireRole } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../session/operator.js';
import { confirmPage } from '../ui/confirm.page.js';
import { type Form, QueryForm } from '../ui/form.js';
import { type Page, seeOther } from '../ui/page.responder.js';
import { t } from '../ui/text.js';
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

  @Get('revoke')
  @RequireRole('support')
  @RecentLogin()
  async confirm(@CurrentOperator() operator: Operator, @QueryForm() query: Form): Promise<Page> {
    const selection = selectionOf(query);
    const count = await this.grants.countLive(selection);
    return confirmPage({
      operator,
      section: '/users',
      title: t('Revoke {count, plural, one {one grant} other {# grants}}?', { count }),
      text: t('The application loses its access at once. Users may allow it again.'),
      path: '/grants/revoke',
      button: t('Revoke'),
      back: `/grants?${new URLSearchParams(selection).toString()}`,
      fields: Object.entries(selection),
    });
  }

  @Post('revoke')
  @RequireRole('support')
  @RecentLogin()
  @Redirect()
  async revokeAll(@CurrentOperator() operator: Operator, @Body() form: Form): Promise<HttpRedirectResponse> {
    const selection = selectionOf(form);
    const { announced } = await this.grants.revokeAll(actorOf(operator), selection);
    await announced;
    return seeOther(`/grants?${new URLSearchParams(selection).toString()}`);
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

/** The user or application whose grants are meant. */
function selectionOf(form: Form): Readonly<Record<string, string>> {
  const [user, client] = [form.text('user'), form.text('client')];
  return { ...(user && { user }), ...(client && { client }) };
}
