import { Param } from '@nestjs/common';
import { DisabledUserDto, EnabledUserDto } from '#users/operations/user.dto.js';
import { UserService } from '#users/operations/user.service.js';
import { type ApiResponse, created } from './response.js';
import type { Change } from '#operations/audit-trail.js';
import { validated } from '#operations/operation-input.js';
import { type ChangeRequest, RequestedChange, Query } from './request-input.js';
import { ApiController, Operation } from './operation.js';
import * as schemas from './schemas.js';

const GENERATED = 'Without `password`, one is generated, which is in this response only.';

@ApiController('users')
export class UsersApiController {
  constructor(private readonly users: UserService) {}

  @Operation('get', '', {
    summary: 'Lists users, newest first',
    query: {
      search: 'Part of the name, user name, email address or external_id; or `id:` and the id.',
      state: '`enabled` or `disabled`.',
      kind: '`password`, `product` (an identity of the product) or `operator` (a role in the console).',
    },
    returns: schemas.USER,
    isPage: true,
  })
  listUsers(@Query() query: object): Promise<object> {
    return this.users.list(query);
  }

  @Operation('post', '', {
    summary: 'Creates a user who logs in with a password',
    description: GENERATED,
    input: schemas.NEW_USER,
    returns: schemas.CREATED_USER,
    creates: true,
  })
  createUser(@RequestedChange() { actor, input }: ChangeRequest): Promise<ApiResponse> {
    return created(
      this.users.create(actor, input),
      ({ id }) => `users/${id}`,
      ({ id }) => this.readUser(String(id)),
    );
  }

  @Operation('get', ':id', { summary: 'Reads a user', returns: schemas.USER_DETAILS })
  readUser(@Param('id') id: string): Promise<object> {
    return this.users.find(`id:${id}`);
  }

  @Operation('patch', ':id', {
    summary: 'Changes the language of a user',
    input: schemas.USER_CHANGES,
    returns: schemas.USER_DETAILS,
    hasVersion: true,
  })
  async changeUser(
    @RequestedChange() { actor, id, expected, input }: ChangeRequest,
  ): Promise<Change<object>> {
    const { announced } = await this.users.update(actor, `id:${id}`, input, expected);
    return { result: await this.readUser(id), announced };
  }

  @Operation('post', ':id/password', {
    summary: 'Changes the password of a user',
    description: GENERATED,
    input: schemas.PASSWORD_CHANGE,
    returns: schemas.CHANGED_PASSWORD,
    needsVersion: true,
  })
  changePassword(@RequestedChange() { actor, id, expected, input }: ChangeRequest): Promise<Change<object>> {
    return this.users.setPassword(actor, `id:${id}`, input, expected);
  }

  @Operation('get', ':id/sessions', {
    summary: 'Lists the newest sessions of a user',
    returns: schemas.SESSION,
    isWholeList: true,
  })
  listSessions(@Param('id') id: string): Promise<readonly object[]> {
    return this.users.sessions(`id:${id}`);
  }

  @Operation('post', ':id/logout', {
    summary: 'Ends every session of a user; grants stay',
    returns: schemas.LOGGED_OUT_USER,
    needsVersion: true,
  })
  logOutUser(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<Change<object>> {
    return this.users.logOut(actor, `id:${id}`, expected);
  }

  @Operation('post', ':id/disable', {
    summary: 'Disables a user, which ends all sessions and grants',
    input: schemas.DISABLE_USER,
    returns: schemas.USER_STATE,
    needsVersion: true,
  })
  async disableUser(
    @RequestedChange() { actor, id, expected, input }: ChangeRequest,
  ): Promise<Change<object>> {
    const { confirmLastAdmin } = validated(DisabledUserDto, input);
    return this.users.disable(actor, `id:${id}`, expected, confirmLastAdmin);
  }

  @Operation('post', ':id/enable', {
    summary: 'Enables a user',
    input: schemas.ENABLE_USER,
    returns: schemas.USER_STATE,
    needsVersion: true,
  })
  async enableUser(
    @RequestedChange() { actor, id, expected, input }: ChangeRequest,
  ): Promise<Change<object>> {
    const { overrideProduct } = validated(EnabledUserDto, input);
    return this.users.enable(actor, `id:${id}`, overrideProduct, expected);
  }

  @Operation('delete', ':id', {
    summary: 'Deletes a user, and ends all sessions and grants',
    query: { confirm_last_admin: '`true`: also the last admin of the console.' },
    flags: ['confirm_last_admin'],
  })
  deleteUser(@RequestedChange() { actor, id, expected, query }: ChangeRequest): Promise<Change<object>> {
    return this.users.delete(actor, `id:${id}`, expected, query['confirmLastAdmin'] === true);
  }
}
