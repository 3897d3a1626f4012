import { Param } from '@nestjs/common';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { OPERATORS_SCOPE } from '#oauth/client-credentials.js';
import type { Change } from '#operations/audit-trail.js';
import { type ChangeRequest, RequestedChange } from './request-input.js';
import { ApiController, Operation } from './operation.js';
import { type ApiResponse, created } from './response.js';
import * as schemas from './schemas.js';

const NO_VERSION = 'Needs no `If-Match`: the request sets the whole role, and can be repeated.';

/** Roles of users in the console. `:id` is the id of the user. */
@ApiController('operators')
export class OperatorsApiController {
  constructor(private readonly operators: ConsoleOperatorService) {}

  @Operation('get', '', {
    summary: 'Lists the operators, who are the users with a role in the console',
    returns: schemas.OPERATOR,
    isWholeList: true,
  })
  listOperators(): Promise<object> {
    return this.operators.list();
  }

  @Operation('get', ':id', { summary: 'Reads the role of a user', returns: schemas.OPERATOR })
  readOperator(@Param('id') id: string): Promise<object> {
    return this.operators.find(id);
  }

  @Operation('put', ':id', {
    summary: 'Gives a user a role, in place of an earlier one',
    description: NO_VERSION,
    scope: OPERATORS_SCOPE,
    input: schemas.OPERATOR_ROLE,
    returns: schemas.OPERATOR,
    needsVersion: false,
  })
  async replaceOperator(@RequestedChange() { actor, id, input }: ChangeRequest): Promise<Change<object>> {
    const { announced } = await this.operators.grant(actor, { ...input, login: `id:${id}` });
    return { result: await this.operators.find(id), announced };
  }

  @Operation('delete', ':id', {
    summary: 'Takes the role of a user away',
    description: NO_VERSION,
    scope: OPERATORS_SCOPE,
    query: { confirm_last_admin: '`true`: also the role of the last admin.' },
    flags: ['confirm_last_admin'],
    needsVersion: false,
  })
  deleteOperator(@RequestedChange() { actor, id, query }: ChangeRequest): Promise<Change<object>> {
    return this.operators.revoke(actor, `id:${id}`, query['confirmLastAdmin'] === true);
  }
}

@ApiController('operator-invitations')
export class OperatorInvitationsApiController {
  constructor(private readonly operators: ConsoleOperatorService) {}

  @Operation('get', '', {
    summary: 'Lists the invitations that are not accepted yet',
    returns: schemas.INVITATION,
    isWholeList: true,
  })
  listInvitations(): Promise<object> {
    return this.operators.invitations();
  }

  @Operation('post', '', {
    summary: 'Invites an email address, in place of an earlier invitation',
    description: 'A user with this verified address gets the role at the next login to the console.',
    scope: OPERATORS_SCOPE,
    input: schemas.NEW_INVITATION,
    returns: schemas.INVITATION,
    creates: true,
  })
  createInvitation(@RequestedChange() { actor, input }: ChangeRequest): Promise<ApiResponse> {
    return created(
      this.operators.invite(actor, input),
      ({ id }) => `operator-invitations/${id}`,
      ({ id }) => this.readInvitation(id),
    );
  }

  @Operation('get', ':id', { summary: 'Reads an invitation', returns: schemas.INVITATION })
  readInvitation(@Param('id') id: string): Promise<object> {
    return this.operators.invitation(id);
  }

  @Operation('delete', ':id', {
    summary: 'Withdraws an invitation',
    description: 'Needs no `If-Match`: an invitation never changes.',
    scope: OPERATORS_SCOPE,
    needsVersion: false,
  })
  deleteInvitation(@RequestedChange() { actor, id }: ChangeRequest): Promise<Change<object>> {
    return this.operators.uninvite(actor, id);
  }
}
