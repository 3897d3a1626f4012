import { Param, Req } from '@nestjs/common';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import type { Change } from '#operations/audit-trail.js';
import { problem } from '#platform/validation/problem.js';
import { ClientService } from '#clients/operations/client.service.js';
import { LOGO_LIMITS, LOGO_MEDIA_TYPES } from '#clients/registration/logo.js';
import type { ApiRequest } from './api.guard.js';
import { etagOf, outdated } from './conditions.js';
import { type ChangeRequest, RequestedChange } from './request-input.js';
import { ApiController, Operation } from './operation.js';
import { API } from './operation-rules.js';
import { ApiResponse } from './response.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    logo_missing: null;
  }
}

/** OpenAPI 3.1 describes a binary body by its media type alone. */
const IMAGE = {};

/** The logo of an application has the version of the application. */
@ApiController('clients')
export class ClientLogoApiController {
  constructor(private readonly clients: ClientService) {}

  @Operation('get', ':id/logo', {
    summary: 'Reads the logo of an application',
    returns: IMAGE,
    produces: LOGO_MEDIA_TYPES,
  })
  async readLogo(@Param('id') id: string): Promise<ApiResponse> {
    const { version } = await this.clients.find(id);
    const logo = await this.clients.logo(id);
    if (!logo) throw noLogo();
    const headers = {
      ETag: etagOf(version, logo.image),
      'Content-Type': logo.mediaType,
      'Content-Security-Policy': "default-src 'none'; sandbox",
    };
    return new ApiResponse(logo.image, headers);
  }

  @Operation('put', ':id/logo', {
    summary: 'Sets the logo of an application',
    description: `PNG, JPEG or WebP, ${LOGO_LIMITS}.`,
    input: IMAGE,
    consumes: LOGO_MEDIA_TYPES,
    mayBeAbsent: true,
    hasVersion: true,
  })
  async replaceLogo(
    @Req() { body }: ApiRequest,
    @RequestedChange() { actor, id, expected }: ChangeRequest,
  ): Promise<ApiResponse> {
    const isNew = expected.isAbsent === true;
    const before = await this.clients.find(id);
    if ((before.logo === null) !== isNew) throw outdated();
    const logo = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const { version: expectedVersion = before.version } = expected;
    const { result, announced } = await this.clients.update(actor, id, { logo, expectedVersion });
    const { client_id: clientId, version } = result.client;
    const location = { Location: `${API}/clients/${encodeURIComponent(clientId)}/logo` };
    const headers = { ETag: etagOf(version, logo), ...(isNew && location) };
    return new ApiResponse(undefined, headers, await announced, isNew ? 201 : 204);
  }

  @Operation('delete', ':id/logo', { summary: 'Removes the logo of an application' })
  async deleteLogo(@RequestedChange() { actor, id, expected }: ChangeRequest): Promise<Change<object>> {
    const { logo, version } = await this.clients.find(id);
    if (logo === null) throw noLogo();
    const { version: expectedVersion = version } = expected;
    return this.clients.update(actor, id, { logo: null, expectedVersion });
  }
}

function noLogo(): AdministrationError {
  return refused('unknown', problem('logo_missing', []));
}
