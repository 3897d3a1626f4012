import { Param } from '@nestjs/common';
import { refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { type Scope, ScopeCatalogue } from '#oauth/scope.js';
import { ApiController, Operation } from './operation.js';
import * as schemas from './schemas.js';

/** The file SCOPES_FILE defines the scopes, so that the API only reads them. */
@ApiController('scopes')
export class ScopesApiController {
  constructor(private readonly catalogue: ScopeCatalogue) {}

  @Operation('get', '', {
    summary: 'Lists the scopes that applications can request',
    returns: schemas.SCOPE,
    isWholeList: true,
  })
  listScopes(): readonly object[] {
    return this.catalogue.scopes.map(scopeResource);
  }

  @Operation('get', ':id', { summary: 'Reads a scope', returns: schemas.SCOPE })
  readScope(@Param('id') name: string): object {
    const scope = this.catalogue.find(name);
    if (!scope) throw refused('unknown', problem('scope_unknown', [], { name }));
    return scopeResource(scope);
  }
}

function scopeResource({ name, access, isDefault, resource, description, texts }: Scope) {
  return { name, access, default: isDefault, resource: resource || null, description, texts };
}
