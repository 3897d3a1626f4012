import { Param } from '@nestjs/common';
import { ResourceServerService } from '#administration/resource-server/resource-server.service.js';
import { type ApiResponse, created, deleted, result, versioned } from './response.js';
import { type ChangeRequest, RequestedChange } from './input.js';
import { ApiController, Operation } from './operation.js';
import * as schemas from './schemas.js';

@ApiController('resource-servers')
export class ResourceServersApiController {
  constructor(private readonly servers: ResourceServerService) {}

  @Operation('get', '', {
    summary: 'Lists the APIs that may introspect tokens over HTTP, all on one page',
    returns: schemas.RESOURCE_SERVER,
    isWholeList: true,
  })
  async listResourceServers(): Promise<ApiResponse> {
    return result({ items: await this.servers.list(), next: null });
  }

  @Operation('post', '', {
    summary: 'Registers an API',
    input: schemas.NEW_RESOURCE_SERVER,
    returns: schemas.REGISTERED_RESOURCE_SERVER,
    creates: true,
  })
  createResourceServer(@RequestedChange() { actor, input }: ChangeRequest): Promise<ApiResponse> {
    return created(this.servers.create(actor, input), ({ id }) => `resource-servers/${id}`);
  }

  @Operation('get', ':id', {
    summary: 'Reads an API',
    returns: schemas.RESOURCE_SERVER,
  })
  async readResourceServer(@Param('id') id: string): Promise<ApiResponse> {
    return versioned(await this.servers.find(id));
  }

  @Operation('delete', ':id', {
    summary: 'Revokes the account of an API for good',
  })
  deleteResourceServer(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<ApiResponse> {
    return deleted(this.servers.revoke(actor, id, expected));
  }
}
