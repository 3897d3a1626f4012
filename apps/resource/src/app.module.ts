import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AuditModule } from '#audit/audit.module.js';
import { IntrospectionModule } from '#introspection/index.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { parseForm, parseJson } from '#oauth/parameters.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { ConfigurationFilesModule } from '#platform/configuration/configuration-files.module.js';
import type { Service } from '#platform/bootstrap/service.js';
import { MeModule } from './me/me.module.js';
import { ME_METADATA_PATH } from './me/me.controller.js';
import { USERINFO_METADATA_PATH } from './userinfo/userinfo.openapi.js';
import { described, errorBody, ResourceErrorFilter } from './resource-error.filter.js';
import { ResourceConfiguration } from './resource.configuration.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { UserInfoController } from './userinfo/userinfo.controller.js';
import { UserInfoService } from './userinfo/userinfo.service.js';

@Module({})
class AppModule {
  static forRoot(configuration: ResourceConfiguration): DynamicModule {
    const { scopes } = configuration;
    return {
      module: AppModule,
      global: true,
      imports: [
        AuditModule.forRoot({
          service: 'resource',
          natsUrl: configuration.auditUrl,
          clientAddress: configuration.AUDIT_CLIENT_ADDRESS,
        }),
        ConfigurationFilesModule.forRoot([scopes]),
        IntrospectionModule.forRoot({
          natsUrl: configuration.NATS_URL,
          name: 'resource',
          timeoutMs: configuration.dependencyTimeoutMs,
          resourceUrl: configuration.API_URL,
          proofLifetime: configuration.DPOP_PROOF_LIFETIME,
          clockSkew: configuration.CLOCK_SKEW,
          resourceMetadata: configuration.API_URL + ENDPOINTS.protectedResourceMetadata,
        }),
        MeModule,
      ],
      controllers: [MetadataController, OpenApiController, UserInfoController],
      providers: [
        UserInfoService,
        { provide: ResourceConfiguration, useValue: configuration },
        { provide: ScopeCatalogue, useValue: scopes.value },
        { provide: APP_FILTER, useClass: ResourceErrorFilter },
      ],
      exports: [ResourceConfiguration, ScopeCatalogue],
    };
  }
}

const OVERLOADED = described(OAuthError.unavailable());

export function resourceApp(configuration: ResourceConfiguration): Service<ResourceConfiguration> {
  return {
    name: 'resource',
    module: AppModule.forRoot(configuration),
    configuration,
    sharedSettings: configuration.sharedSettings,
    bodyParsers: { 'application/x-www-form-urlencoded': parseForm, 'application/json': parseJson },
    overloadBody: (request) => errorBody(OVERLOADED, request),
    crossOriginPaths: [
      ENDPOINTS.me,
      ENDPOINTS.userInfo,
      ENDPOINTS.protectedResourceMetadata,
      ME_METADATA_PATH,
      USERINFO_METADATA_PATH,
      ENDPOINTS.resourceOpenApi,
    ],
  };
}
