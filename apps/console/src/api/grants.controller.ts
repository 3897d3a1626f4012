import { Param, Req } from '@nestjs/common';
import { GrantService } from '#grants/operations/grant.service.js';
import { type ApiResponse, changed, deleted, listed, versioned } from './response.js';
import type { ApiRequest } from './api.guard.js';
import { type ChangeRequest, RequestedChange, Query } from './request-input.js';
import { ApiController, Operation } from './operation.js';
import * as schemas from './schemas.js';

@ApiController('grants')
export class GrantsApiController {
  constructor(private readonly grants: GrantService) {}

  @Operation('get', '', {
    summary: 'Lists live grants, newest first',
    query: {
      user: 'Email address, user name or external_id of a user; or `id:` and the id.',
      client: 'client_id, or the name if no other application has it.',
      ended: '`true`: revoked and expired grants as well.',
    },
    returns: schemas.GRANT,
    isPage: true,
  })
  async listGrants(
    @Req() { url }: ApiRequest,
    @Query({ flags: ['ended'] }) query: object,
  ): Promise<ApiResponse> {
    return listed(url, await this.grants.list(query));
  }

  @Operation('post', 'revoke', {
    summary: 'Revokes all grants of a user, to an application, or both; or all grants',
    description: 'Needs no `If-Match`: a selection of grants has no version.',
    input: schemas.GRANT_SELECTION,
    returns: schemas.REVOKED_GRANTS,
  })
  revokeGrants(@RequestedChange() { actor, input }: ChangeRequest): Promise<ApiResponse> {
    return changed(this.grants.revokeAll(actor, input));
  }

  @Operation('get', ':id', {
    summary: 'Reads a grant',
    returns: schemas.GRANT,
  })
  async readGrant(@Param('id') id: string): Promise<ApiResponse> {
    return versioned(await this.grants.find(id));
  }

  @Operation('delete', ':id', { summary: 'Revokes a grant' })
  revokeGrant(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    return deleted(this.grants.revoke(actor, id, expected));
  }
}
