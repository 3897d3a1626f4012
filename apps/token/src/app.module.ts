import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { CustomStrategy } from '@nestjs/microservices';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { parseForm, parseJson } from '#oauth/parameters.js';
import type { Service } from '#platform/bootstrap/service.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { GracefulNatsServer } from './graceful-nats-server.js';
import { CoreModule } from './core.module.js';
import { DeviceModule } from './device/device.module.js';
import { EventsModule } from './events/events.module.js';
import { IntrospectionModule } from './introspection/introspection.module.js';
import { LogoutDeliveryModule } from './logout-delivery/logout-delivery.module.js';
import { MetadataModule } from './metadata/metadata.module.js';
import { errorBody, OAuthErrorFilter } from './oauth-error.filter.js';
import { ParModule } from './par/par.module.js';
import { RevocationModule } from './revocation/revocation.module.js';
import { UserModule } from './user/user.module.js';
import { TokenModule } from './token/token.module.js';
import type { TokenConfiguration } from './token.configuration.js';

@Module({})
export class AppModule {
  static forRoot(configuration: TokenConfiguration): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(configuration),
        TokenModule,
        RevocationModule,
        IntrospectionModule,
        ParModule,
        DeviceModule,
        LogoutDeliveryModule,
        EventsModule,
        MetadataModule,
        UserModule,
      ],
      providers: [{ provide: APP_FILTER, useClass: OAuthErrorFilter }],
    };
  }
}

/** Endpoints that public clients may call from a browser. */
const BROWSER_ENDPOINTS = [
  ENDPOINTS.token,
  ENDPOINTS.refreshToken,
  ENDPOINTS.revoke,
  ENDPOINTS.par,
  ENDPOINTS.deviceAuthorization,
  ENDPOINTS.authorizationServerMetadata,
  ENDPOINTS.openIdConfiguration,
  ENDPOINTS.jwks,
  ENDPOINTS.openApi,
];

const OVERLOADED = OAuthError.unavailable();

export function tokenApp(configuration: TokenConfiguration): Service<TokenConfiguration> {
  return {
    name: 'token',
    module: AppModule.forRoot(configuration),
    configuration,
    sharedSettings: configuration.sharedSettings,
    bodyParsers: { 'application/x-www-form-urlencoded': parseForm, 'application/json': parseJson },
    overloadBody: (request) => errorBody(OVERLOADED, request, configuration.BASE_URL),
    crossOriginPaths: BROWSER_ENDPOINTS,
    configure: (app) => {
      // NATS delivers each request to one instance of the queue group.
      const options = { ...natsOptions(configuration.NATS_URL, 'token responder'), queue: 'token' };
      app.connectMicroservice<CustomStrategy>({
        strategy: new GracefulNatsServer(options, configuration.dependencyTimeoutMs),
      });
    },
  };
}
