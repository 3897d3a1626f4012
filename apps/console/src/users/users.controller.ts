import { Body, Controller, Get, Param, ParseIntPipe, Post } from '@nestjs/common';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { GrantService } from '#grants/operations/grant.service.js';
import { UserService } from '#users/operations/user.service.js';
import { SentBeforeLogin, SentFrom } from '#pages/kept-forms.service.js';
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
import { grantsPage, userPage, usersPage } from './users.page.js';

/** The page of grants shows the others. */
const SHOWN_GRANTS = 50;

const EFFECTS = {
  disable:
    'All sessions end{count, plural, =0 {} one {, and one grant} other {, and # grants}}. The user cannot log in until an operator enables the user.',
  delete:
    'All sessions end{count, plural, =0 {} one {, and one grant} other {, and # grants}}. This cannot be undone.',
};

const LAST_ADMIN = {
  disable:
    'This user is the last admin of the console, and only the command line could appoint another one. The way back is: operator user enable id:{id}',
  delete:
    'This user is the last admin of the console, and only the command line could appoint another one: operator console grant LOGIN --role admin',
};

const UserId = (): ParameterDecorator => Param('id', ParseIntPipe);

@Controller('users')
export class UsersController {
  constructor(
    private readonly users: UserService,
    private readonly grants: GrantService,
    private readonly privileged: PrivilegedAccounts,
    private readonly operators: ConsoleOperatorService,
  ) {}

  @Get()
  list(@CurrentOperator() operator: Operator, @QueryForm() query: Form): Promise<Page> {
    return this.listPage(operator, query);
  }

  @Get(':id')
  show(@CurrentOperator() operator: Operator, @UserId() id: number): Promise<Page> {
    return this.page(operator, id);
  }

  @Get(':id/disable')
  @RequireRole('support')
  async confirmDisable(@CurrentOperator() operator: Operator, @UserId() id: number): Promise<Page> {
    return confirmPage(await this.confirmation(operator, id, 'disable'));
  }

  @Post(':id/disable')
  @RequireRole('support')
  async disable(
    @CurrentOperator() operator: Operator,
    @UserId() id: number,
    @Body() form: Form,
  ): Promise<Page> {
    const unconfirmed = unconfirmedPage(await this.confirmation(operator, id, 'disable'), form);
    if (unconfirmed) return unconfirmed;
    const confirmed = form.text('confirmLastAdmin') === 'true';
    const change = this.users.disable(actorOf(operator), `id:${id}`, {}, confirmed);
    const note = 'The user is disabled: all sessions and grants have ended.';
    return this.page(operator, id, await noticesOf(note, change));
  }

  @Post(':id/enable')
  @SentFrom('.')
  @RequireRole('support')
  async enable(@CurrentOperator() operator: Operator, @UserId() id: number): Promise<Page> {
    const { result, announced } = await this.users.enable(actorOf(operator), `id:${id}`);
    const note = result.disabled
      ? 'The user is still disabled by the product.'
      : 'The user is enabled and can log in again.';
    return this.page(operator, id, { note, warnings: await announced });
  }

  @Post(':id/logout')
  @SentFrom('.')
  @RequireRole('support')
  async logOut(@CurrentOperator() operator: Operator, @UserId() id: number): Promise<Page> {
    const change = this.users.logOut(actorOf(operator), `id:${id}`);
    return this.page(operator, id, await noticesOf('The user is logged out everywhere.', change));
  }

  @Get(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async confirmDelete(@CurrentOperator() operator: Operator, @UserId() id: number): Promise<Page> {
    return confirmPage(await this.confirmation(operator, id, 'delete'));
  }

  @Post(':id/delete')
  @RequireRole('admin')
  @RecentLogin()
  async delete(
    @CurrentOperator() operator: Operator,
    @UserId() id: number,
    @Body() form: Form,
  ): Promise<Page> {
    const unconfirmed = unconfirmedPage(await this.confirmation(operator, id, 'delete'), form);
    if (unconfirmed) return unconfirmed;
    const confirmed = form.text('confirmLastAdmin') === 'true';
    const change = this.users.delete(actorOf(operator), `id:${id}`, {}, confirmed);
    return this.listPage(operator, new Form(), await noticesOf('The user is deleted.', change));
  }

  private async confirmation(
    operator: Operator,
    id: number,
    action: 'disable' | 'delete',
  ): Promise<ConfirmView> {
    await this.privileged.checkUser(operator, id);
    const { name, live_grants: count } = await this.users.find(`id:${id}`);
    const isLastAdmin = await this.operators.isLastAdmin(id);
    return {
      operator,
      section: '/users',
      warnings: isLastAdmin ? [phrase(LAST_ADMIN[action], { id: String(id) })] : [],
      title: action === 'delete' ? phrase('Delete {name}?', { name }) : phrase('Disable {name}?', { name }),
      text: phrase(EFFECTS[action], { count }),
      path: `/users/${id}/${action}`,
      button: action === 'delete' ? 'Delete' : 'Disable',
      back: `/users/${id}`,
      fields: [['grants', String(count)], ...(isLastAdmin ? [['confirmLastAdmin', 'true'] as const] : [])],
    };
  }

  private async listPage(operator: Operator, query: Form, changed?: Notices): Promise<Page> {
    const [filter, position] = [query.filled(...FILTERS), query.filled('cursor')];
    const [page, count] = await Promise.all([
      this.users.list({ ...filter, ...position, limit: 50 }),
      this.users.count(filter),
    ]);
    return usersPage(operator, { ...page, count }, { ...filter, ...position }, changed);
  }

  private async page(operator: Operator, id: number, changed: Notices = {}): Promise<Page> {
    const login = `id:${id}`;
    const user = await this.users.find(login);
    const [grants, sessions, mayChange] = await Promise.all([
      this.grants.list({ user: login, limit: SHOWN_GRANTS }),
      this.users.sessions(login).catch(unlessUnavailable),
      this.privileged.mayChangeUser(operator, id),
    ]);
    return userPage({ operator, user, grants, sessions, mayChange, changed });
  }
}

/** Returns null for an unavailable service, because the page is useful without the sessions. */
function unlessUnavailable(error: unknown): null {
  if (error instanceof AdministrationError && error.kind === 'unavailable') return null;
  throw error;
}

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
    const changed = await noticesOf('The grant is revoked.', this.grants.revoke(actorOf(operator), id));
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
