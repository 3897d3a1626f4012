import { ENDPOINTS } from '#oauth/endpoints.js';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { IntrospectionModule } from '#introspection/introspection.module.js';
import { LoggingModule } from '#platform/logging/logging.module.js';
import { MeController } from './me/me.controller.js';
import { ProfileCache } from './me/profile-cache.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { ResourceErrorFilter } from './resource-error.filter.js';
import { ResourceMetrics } from './resource-metrics.js';
import { ResourceReadiness } from './resource-readiness.js';
import { ResourceConfiguration } from './resource.configuration.js';

/** The resource app: an API of the product, protected as any other would be. */
@Module({})
export class ResourceModule {
  static forRoot(configuration: ResourceConfiguration): DynamicModule {
    return {
      module: ResourceModule,
      imports: [
        LoggingModule.forRoot('resource', configuration.LOG_LEVEL),
        IntrospectionModule.forRoot({
          natsUrl: configuration.NATS_URL,
          name: 'resource',
          timeoutMs: configuration.dependencyTimeoutMs,
          resourceUrl: configuration.API_URL,
          proofLifetime: configuration.DPOP_PROOF_LIFETIME,
          clockSkew: configuration.CLOCK_SKEW,
          resourceMetadata: configuration.API_URL + ENDPOINTS.protectedResourceMetadata,
        }),
      ],
      controllers: [MeController, MetadataController],
      providers: [
        { provide: ResourceConfiguration, useValue: configuration },
        { provide: APP_FILTER, useClass: ResourceErrorFilter },
        ProfileCache,
        ResourceReadiness,
        ResourceMetrics,
      ],
    };
  }
}
