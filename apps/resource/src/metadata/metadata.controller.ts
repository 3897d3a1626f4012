import { Controller, Get, Header } from '@nestjs/common';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { ENDPOINTS, ME_SCOPE } from '#oauth/endpoints.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { ApiOperation } from '#openapi/operation.js';
import { serviceDescription } from '#openapi/serve-document.js';
import { ME_METADATA_PATH } from '../me/me.controller.js';
import { USERINFO_METADATA_PATH, USERINFO_SCOPES } from '../userinfo/userinfo.openapi.js';
import { ResourceConfiguration } from '../resource.configuration.js';
import {
  API_METADATA_OPERATION,
  ME_METADATA_OPERATION,
  type ProtectedResourceMetadata,
  USERINFO_METADATA_OPERATION,
} from './metadata.openapi.js';

@Controller()
export class MetadataController {
  constructor(
    private readonly configuration: ResourceConfiguration,
    private readonly scopes: ScopeCatalogue,
  ) {}

  @Get(ENDPOINTS.protectedResourceMetadata)
  @Header('Link', serviceDescription(ENDPOINTS.resourceOpenApi))
  @ApiOperation(API_METADATA_OPERATION)
  ofApi(): ProtectedResourceMetadata {
    return this.metadata(this.configuration.API_URL, this.scopes.ofResource(this.configuration.API_URL));
  }

  /** Serves clients that accept only the metadata of the URL that they call (RFC 9728 3.3). */
  @Get(ME_METADATA_PATH)
  @Header('Link', serviceDescription(ENDPOINTS.resourceOpenApi))
  @ApiOperation(ME_METADATA_OPERATION)
  ofMe(): ProtectedResourceMetadata {
    return this.metadata(this.configuration.API_URL + ENDPOINTS.me, [ME_SCOPE]);
  }

  @Get(USERINFO_METADATA_PATH)
  @Header('Link', serviceDescription(ENDPOINTS.resourceOpenApi))
  @ApiOperation(USERINFO_METADATA_OPERATION)
  ofUserInfo(): ProtectedResourceMetadata {
    const resource = this.configuration.API_URL + ENDPOINTS.userInfo;
    return this.metadata(resource, USERINFO_SCOPES, ['header', 'body']);
  }

  private metadata(
    resource: string,
    scopes: readonly string[],
    methods: readonly string[] = ['header'],
  ): ProtectedResourceMetadata {
    return {
      resource,
      resource_name: `${this.configuration.PRODUCT_NAME} API`,
      authorization_servers: [this.configuration.BASE_URL],
      // RFC 9728 3.2: "Parameters with zero values MUST be omitted from the response."
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: methods,
      dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    };
  }
}
