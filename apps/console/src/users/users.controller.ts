import { Controller, Get, Param, ParseIntPipe, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GrantService } from '#administration/grant/grant.service.js';
import { UserService } from '#administration/user/user.service.js';
import { RecentLogin, RequireRole } from '../session/operator.guard.js';
import { actorOf, CurrentOperator, type Operator } from '../session/operator.js';
import { queryOf } from '../ui/form.js';
import { PageResponder } from '../ui/page.responder.js';
import { t } from '../ui/text.js';
import { confirmPage, userPage, usersPage } from './users.page.js';

/** Grants that the page of a user shows. */
const SHOWN_GRANTS = 100;

@Controller('users')
export class UsersController {
  constructor(
    private readonly users: UserService,
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
    const [search, after] = [query.text('search'), query.text('after')];
    const page = { ...(search && { search }), ...(after && { after: Number(after) }), limit: 50 };
    this.pages.page(reply, 200, usersPage(operator, await this.users.list(page), search));
  }

  @Get(':id')
  async show(
    @CurrentOperator() operator: Operator,
    @Param('id', ParseIntPipe) id: number,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.page(reply, operator, id);
  }

  @Post(':id/disable')
  @RequireRole('support')
  async disable(
    @CurrentOperator() operator: Operator,
    @Param('id', ParseIntPipe) id: number,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { announced } = await this.users.disable(actorOf(operator), `id:${id}`);
    const note = t('The user is disabled: all sessions and grants have ended.');
    await this.page(reply, operator, id, note, await announced);
  }

  @Post(':id/enable')
  @RequireRole('support')
  async enable(
    @CurrentOperator() operator: Operator,
    @Param('id', ParseIntPipe) id: number,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { result, announced } = await this.users.enable(actorOf(operator), `id:${id}`);
    const note = result.disabled
      ? t('The product still disables the user.')
      : t('The user is enabled, and may log in again.');
    await this.page(reply, operator, id, note, await announced);
  }

  @Get(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async confirmDelete(
    @CurrentOperator() operator: Operator,
    @Param('id', ParseIntPipe) id: number,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { name, live_grants: count } = await this.users.find(`id:${id}`);
    const view = {
      operator,
      title: t('Delete {name}?', { name }),
      text: t(
        'All sessions end, and the access of {count, plural, =0 {no application} one {one application} other {# applications}}. This cannot be undone.',
        { count },
      ),
      path: `/users/${id}/delete`,
      button: t('Delete'),
      back: `/users/${id}`,
    };
    this.pages.page(reply, 200, confirmPage(view));
  }

  @Post(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async delete(
    @CurrentOperator() operator: Operator,
    @Param('id', ParseIntPipe) id: number,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await (
      await this.users.delete(actorOf(operator), `id:${id}`)
    ).announced;
    this.pages.seeOther(reply, '/users');
  }

  private async page(
    reply: FastifyReply,
    operator: Operator,
    id: number,
    note?: string,
    warnings: readonly string[] = [],
  ): Promise<void> {
    const user = await this.users.find(`id:${id}`);
    const { items: grants } = await this.grants.list({ user: `id:${id}`, limit: SHOWN_GRANTS });
    const view = { operator, user, grants, warnings, ...(note !== undefined && { note }) };
    this.pages.page(reply, 200, userPage(view));
  }
}
