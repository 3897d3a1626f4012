import { Body, Controller, Get, Param, ParseIntPipe, Post } from '@nestjs/common';
import { AdministrationError } from '#platform/validation/administration.error.js';
import type { Change } from '#operations/audit-trail.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { labelOf } from '../applications/application.form.js';
import { ConsoleConfiguration } from '../console.configuration.js';
import { Form } from '#pages/form.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { SentBeforeLogin, SentFrom } from '#pages/kept-forms.service.js';
import { RecentLogin } from '#pages/route-rules.js';
import { RequireRole } from '../session/operator-accounts.js';
import { noticesOf } from '../ui/console-components.js';
import type { Notices } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { invitedPage, newOperatorPage, operatorPage, operatorsPage } from './operators.page.js';

/** Roles that this service stores. Groups of another login provider replace these roles. */
@Controller('operators')
export class OperatorsController {
  constructor(
    private readonly operators: ConsoleOperatorService,
    private readonly configuration: ConsoleConfiguration,
  ) {}

  @Get()
  list(@CurrentOperator() operator: Operator): Promise<Page> {
    return this.listPage(operator);
  }

  @Get('new')
  @RequireRole('admin')
  @RecentLogin()
  new(@CurrentOperator() operator: Operator, @SentBeforeLogin() sent: Form | null): Page {
    return newOperatorPage(operator, sent ?? new Form());
  }

  /** Grants a role to a user, or invites an email address. */
  @Post('new')
  @RequireRole('admin')
  @RecentLogin()
  async add(@CurrentOperator() operator: Operator, @Body() form: Form): Promise<Page> {
    const role = form.text('role');
    try {
      if (form.text('go') === 'invite') {
        const input = { email: form.text('email'), role };
        const { result, announced } = await this.operators.invite(
          actorOf(operator),
          input,
          Number(operator.identity.subject),
        );
        return invitedPage(result, `${this.configuration.CONSOLE_URL}/`, await announced);
      }
      const input = { login: form.text('login'), role };
      const change = this.operators.grant(actorOf(operator), input);
      return await this.listPage(operator, await noticesOf('The role is granted.', change));
    } catch (error) {
      return newOperatorPage(operator, form, messagesOf(error));
    }
  }

  @Get(':id')
  @RequireRole('admin')
  @RecentLogin()
  async show(@CurrentOperator() operator: Operator, @Param('id', ParseIntPipe) id: number): Promise<Page> {
    return operatorPage(operator, await this.operators.find(id));
  }

  /** Changes or ends a role. */
  @Post(':id')
  @RequireRole('admin')
  @RecentLogin()
  async change(
    @CurrentOperator() operator: Operator,
    @Param('id', ParseIntPipe) id: number,
    @Body() form: Form,
  ): Promise<Page> {
    const confirmLastAdmin = form.text('confirmLastAdmin') === 'true';
    const [login, role, actor] = [`id:${id}`, form.text('role'), actorOf(operator)];
    const ends = form.text('go') === 'end';
    try {
      const change: Promise<Change<unknown>> = ends
        ? this.operators.revoke(actor, login, confirmLastAdmin)
        : this.operators.grant(actor, { login, role, confirmLastAdmin });
      const note = ends ? 'The role has ended.' : 'The role is changed.';
      return await this.listPage(operator, await noticesOf(note, change));
    } catch (error) {
      const needsConfirmation = error instanceof AdministrationError && error.kind === 'unconfirmed';
      if (!needsConfirmation) throw error;
      return operatorPage(operator, await this.operators.find(id), { form, warnings: messagesOf(error) });
    }
  }

  @Post('invitations/:id/revoke')
  @SentFrom('/operators')
  @RequireRole('admin')
  async uninvite(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    const change = this.operators.uninvite(actorOf(operator), id);
    return this.listPage(operator, await noticesOf('The invitation is withdrawn.', change));
  }

  private async listPage(operator: Operator, changed: Notices = {}): Promise<Page> {
    const [operators, invitations] = await Promise.all([this.operators.list(), this.operators.invitations()]);
    return operatorsPage({ operator, operators, invitations, isStored: this.isStored(), changed });
  }

  private isStored(): boolean {
    return this.configuration.CONSOLE_GROUPS_CLAIM === '';
  }
}

function messagesOf(error: unknown): string[] {
  if (error instanceof AdministrationError) return describeProblems(error, labelOf);
  throw error;
}
