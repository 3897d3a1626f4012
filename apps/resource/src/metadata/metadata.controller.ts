import { Controller, Get, Inject } from '@nestjs/common';
import { DPOP_ALGORITHMS } from '#introspection/dpop/dpop-algorithms.js';
import { ResourceConfiguration } from '../resource.configuration.js';

/** Path of the resource's metadata (RFC 9728 3). */
export const METADATA_PATH = '.well-known/oauth-protected-resource';

/** `GET /.well-known/oauth-protected-resource`: where tokens for this API come from (RFC 9728 2). */
@Controller(METADATA_PATH)
export class MetadataController {
  constructor(@Inject(ResourceConfiguration) private readonly configuration: ResourceConfiguration) {}

  @Get()
  metadata(): object {
    return {
      resource: this.configuration.API_URL,
      authorization_servers: [this.configuration.BASE_URL],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    };
  }
}
