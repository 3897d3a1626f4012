import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GrantService } from '#administration/grant/grant.service.js';
import { RecentLogin, RequireRole } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../session/operator.js';
import { type Form, queryOf } from '../ui/form.js';
import { PageResponder } from '../ui/page.responder.js';
import { t } from '../ui/text.js';
import { confirmPage, grantsPage } from './users.page.js';

@Controller('grants')
export class GrantsController {
  constructor(
    private readonly grants: GrantService,
    private readonly pages: PageResponder,
  ) {}

  @Get()
  async list(
    @CurrentOperator() operator: Operator,
    @Req() { url }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const query = queryOf(url);
    const selection = selectionOf(query);
    const before = query.text('after');
    const found = await this.grants.list({ ...selection, ...(before && { before }), limit: 50 });
    this.pages.page(reply, 200, grantsPage(operator, found, selection));
  }

  @Get('revoke')
  @RequireRole('support')
  @RecentLogin()
  async confirm(
    @CurrentOperator() operator: Operator,
    @Req() { url }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const fields = selectionOf(queryOf(url));
    const count = await this.grants.countLive(fields);
    const view = {
      operator,
      title: t('Revoke {count, plural, one {one grant} other {# grants}}?', { count }),
      text: t('The application loses its access at once. Users may allow it again.'),
      path: '/grants/revoke',
      button: t('Revoke'),
      back: `/grants?${new URLSearchParams(fields).toString()}`,
      fields,
    };
    this.pages.page(reply, 200, confirmPage(view));
  }

  @Post('revoke')
  @RequireRole('support')
  @RecentLogin()
  async revokeAll(
    @CurrentOperator() operator: Operator,
    @Body() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const selection = selectionOf(form);
    await (
      await this.grants.revokeAll(actorOf(operator), selection)
    ).announced;
    this.pages.seeOther(reply, `/grants?${new URLSearchParams(selection).toString()}`);
  }

  @Post(':id/revoke')
  @RequireRole('support')
  async revoke(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { user_id: userId } = await this.grants.find(id);
    await (
      await this.grants.revoke(actorOf(operator), id)
    ).announced;
    this.pages.seeOther(reply, `/users/${userId}`);
  }
}

/** The user or application whose grants are meant. */
function selectionOf(form: Form): Readonly<Record<string, string>> {
  const [user, client] = [form.text('user'), form.text('client')];
  return { ...(user && { user }), ...(client && { client }) };
}
