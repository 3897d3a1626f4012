import { Param } from '@nestjs/common';
import {
  ResourceServerService,
  type ResourceServerView,
} from '#clients/operations/resource-server.service.js';
import type { Change } from '#operations/audit-trail.js';
import { type ApiResponse, created } from './response.js';
import { type ChangeRequest, RequestedChange } from './request-input.js';
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
  async listResourceServers(): Promise<readonly object[]> {
    return (await this.servers.list()).map(serverResource);
  }

  @Operation('post', '', {
    summary: 'Registers an API',
    input: schemas.NEW_RESOURCE_SERVER,
    returns: schemas.REGISTERED_RESOURCE_SERVER,
    creates: true,
  })
  createResourceServer(@RequestedChange() { actor, input }: ChangeRequest): Promise<ApiResponse> {
    return created(
      this.servers.create(actor, input),
      ({ id }) => `resource-servers/${id}`,
      ({ id }) => this.readResourceServer(id),
    );
  }

  @Operation('get', ':id', { summary: 'Reads an API', returns: schemas.RESOURCE_SERVER })
  async readResourceServer(@Param('id') id: string): Promise<object> {
    return serverResource(await this.servers.find(id));
  }

  @Operation('patch', ':id', {
    summary: 'Changes the name or the keys of an API',
    description: 'New keys replace the secret or the former keys immediately.',
    input: schemas.RESOURCE_SERVER_CHANGES,
    returns: schemas.RESOURCE_SERVER,
    hasVersion: true,
  })
  async changeResourceServer(
    @RequestedChange() { actor, id, expected, input }: ChangeRequest,
  ): Promise<Change<object>> {
    const { result, announced } = await this.servers.update(actor, id, input, expected);
    return { result: serverResource(result), announced };
  }

  @Operation('delete', ':id', { summary: 'Revokes the account of an API for good' })
  deleteResourceServer(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<Change<object>> {
    return this.servers.revoke(actor, id, expected);
  }
}

/** Returns every member under the name that a request has. A view omits members without a value. */
function serverResource(server: ResourceServerView) {
  return { keys: [], jwks_uri: null, ...server };
}
