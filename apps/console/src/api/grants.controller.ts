import { Param } from '@nestjs/common';
import { GrantService } from '#grants/operations/grant.service.js';
import type { Change } from '#operations/audit-trail.js';
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
    flags: ['ended'],
    returns: schemas.GRANT,
    isPage: true,
  })
  listGrants(@Query() query: object): Promise<object> {
    return this.grants.list(query);
  }

  @Operation('post', 'revoke', {
    summary: 'Revokes all grants of a user, to an application, or both; or all grants',
    description: 'Needs no `If-Match`: a selection of grants has no version.',
    input: schemas.GRANT_SELECTION,
    returns: schemas.REVOKED_GRANTS,
  })
  revokeGrants(@RequestedChange() { actor, input }: ChangeRequest): Promise<Change<object>> {
    return this.grants.revokeAll(actor, input);
  }

  @Operation('get', ':id', { summary: 'Reads a grant', returns: schemas.GRANT })
  readGrant(@Param('id') id: string): Promise<object> {
    return this.grants.find(id);
  }

  @Operation('delete', ':id', { summary: 'Revokes a grant' })
  revokeGrant(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<Change<object>> {
    return this.grants.revoke(actor, id, expected);
  }
}
