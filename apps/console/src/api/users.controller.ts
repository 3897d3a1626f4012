import { Param, Req } from '@nestjs/common';
import { DisabledUserDto, EnabledUserDto } from '#users/operations/user.dto.js';
import { UserService } from '#users/operations/user.service.js';
import { type ApiResponse, changed, created, deleted, listed, versioned, wholeList } from './response.js';
import { validated } from '#operations/operation-input.js';
import type { ApiRequest } from './api.guard.js';
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
  async listUsers(@Req() { url }: ApiRequest, @Query({}) query: object): Promise<ApiResponse> {
    return listed(url, await this.users.list(query));
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

  @Operation('get', ':id', {
    summary: 'Reads a user',
    returns: schemas.USER_DETAILS,
  })
  async readUser(@Param('id') id: string): Promise<ApiResponse> {
    return versioned(await this.users.find(`id:${id}`));
  }

  @Operation('patch', ':id', {
    summary: 'Changes the language of a user',
    input: schemas.USER_CHANGES,
    returns: schemas.USER_DETAILS,
    hasVersion: true,
  })
  async changeUser(@RequestedChange() { actor, id, expected, input }: ChangeRequest): Promise<ApiResponse> {
    const { announced } = await this.users.update(actor, `id:${id}`, input, expected);
    return { ...(await this.readUser(id)), warnings: await announced };
  }

  @Operation('post', ':id/password', {
    summary: 'Changes the password of a user',
    description: GENERATED,
    input: schemas.PASSWORD_CHANGE,
    returns: schemas.CHANGED_PASSWORD,
    needsVersion: true,
  })
  changePassword(@RequestedChange() { actor, id, expected, input }: ChangeRequest): Promise<ApiResponse> {
    return changed(this.users.setPassword(actor, `id:${id}`, input, expected));
  }

  @Operation('get', ':id/sessions', {
    summary: 'Lists the newest sessions of a user',
    returns: schemas.SESSION,
    isWholeList: true,
  })
  async listSessions(@Param('id') id: string): Promise<ApiResponse> {
    return wholeList(await this.users.sessions(`id:${id}`));
  }

  @Operation('post', ':id/logout', {
    summary: 'Ends every session of a user; grants stay',
    returns: schemas.LOGGED_OUT_USER,
    needsVersion: true,
  })
  logOutUser(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    return changed(this.users.logOut(actor, `id:${id}`, expected));
  }

  @Operation('post', ':id/disable', {
    summary: 'Disables a user, which ends all sessions and grants',
    input: schemas.DISABLE_USER,
    returns: schemas.USER_STATE,
    needsVersion: true,
  })
  async disableUser(@RequestedChange() { actor, id, expected, input }: ChangeRequest): Promise<ApiResponse> {
    const { confirmLastAdmin } = validated(DisabledUserDto, input);
    return changed(this.users.disable(actor, `id:${id}`, expected, confirmLastAdmin));
  }

  @Operation('post', ':id/enable', {
    summary: 'Enables a user',
    input: schemas.ENABLE_USER,
    returns: schemas.USER_STATE,
    needsVersion: true,
  })
  async enableUser(@RequestedChange() { actor, id, expected, input }: ChangeRequest): Promise<ApiResponse> {
    const { overrideProduct } = validated(EnabledUserDto, input);
    return changed(this.users.enable(actor, `id:${id}`, overrideProduct, expected));
  }

  @Operation('delete', ':id', {
    summary: 'Deletes a user, and ends all sessions and grants',
    query: { confirm_last_admin: '`true`: also the last admin of the console.' },
  })
  deleteUser(
    @RequestedChange() { actor, id, expected }: ChangeRequest,
    @Query({ flags: ['confirm_last_admin'] }) { confirmLastAdmin }: Readonly<Record<string, unknown>>,
  ): Promise<ApiResponse> {
    return deleted(this.users.delete(actor, `id:${id}`, expected, confirmLastAdmin === true));
  }
}
