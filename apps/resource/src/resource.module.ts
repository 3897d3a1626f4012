import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { IntrospectionModule } from '#introspection/index.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { allowBrowsers } from '#platform/http/allow-browsers.js';
import { LoggingModule } from '#platform/logging/logging.module.js';
import { MeModule } from './me/me.controller.js';
import { ME_METADATA_PATH, MetadataModule } from './metadata/metadata.controller.js';
import { ResourceErrorFilter } from './resource-error.filter.js';
import { ResourceConfiguration } from './resource.configuration.js';

/** The resource app: an API of the product, protected as any other API would be. */
@Module({})
export class ResourceModule {
  static forRoot(configuration: ResourceConfiguration): DynamicModule {
    return {
      module: ResourceModule,
      global: true,
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
        MeModule,
        MetadataModule,
      ],
      providers: [
        { provide: ResourceConfiguration, useValue: configuration },
        { provide: APP_FILTER, useClass: ResourceErrorFilter },
      ],
      exports: [ResourceConfiguration],
    };
  }
}

/** Lets browsers call the API and read its metadata (CORS). */
export async function configureResource(app: NestFastifyApplication): Promise<void> {
  await allowBrowsers(app, [ENDPOINTS.me, ENDPOINTS.protectedResourceMetadata, ME_METADATA_PATH]);
}
