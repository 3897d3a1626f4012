import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { PassportModule } from '@nestjs/passport';
import { PushedRequestStore } from '#authorization/pushed-request.store.js';
import { DirectoryModule } from '#directory/directory.module.js';
import { ConnectionModule } from '#introspection/connection.module.js';
import { LoggingModule } from '#service/logging/logging.module.js';
import { OAuthErrorFilter } from '#service/oauth/oauth-error.filter.js';
import { RedisModule } from '#service/redis/redis.module.js';
import { ClientAuthenticator } from './client/client-authenticator.service.js';
import { ClientCache } from './client/client-cache.js';
import { ProofSpender } from './dpop/proof-spender.service.js';
import { ProofStore } from './dpop/proof.store.js';
import { SpendResponder } from './dpop/spend.responder.js';
import { grantEngineProvider } from './grant/grant-engine.provider.js';
import { MONOTONIC_CLOCK } from './grant/monotonic-clock.js';
import { RevocationKeeper } from './grant/revocation-keeper.service.js';
import { RevocationReplay } from './grant/revocation-replay.service.js';
import { RevocationResponder } from './grant/revocation.responder.js';
import { NatsReadiness } from './health/nats-readiness.js';
import { TokenReadiness } from './health/token-readiness.js';
import { IntrospectionController } from './introspect/introspection.controller.js';
import { ResourceServerAuthenticator } from './introspect/resource-server-authenticator.service.js';
import { IntrospectionResponder } from './introspect/introspection.responder.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { ParController } from './par/par.controller.js';
import { ParService } from './par/par.service.js';
import { ProfileResponder } from './profile/profile.responder.js';
import { RefreshTokenStrategy } from './refresh/refresh-token.strategy.js';
import { RefreshController } from './refresh/refresh.controller.js';
import { RevokeController } from './revoke/revoke.controller.js';
import { lifetimesOf, TokenConfiguration } from './token.configuration.js';
import { ClientCacheMetrics } from './client/client-cache-metrics.js';
import { TokenRequest } from './token/token-request.js';
import { TokenController } from './token/token.controller.js';
import { TokenService } from './token/token.service.js';
import { UsageRecorder } from './usage/usage-recorder.service.js';

/** The token app: token endpoints over HTTP, introspection and profiles over NATS. */
@Module({})
export class TokenModule {
  static forRoot(configuration: TokenConfiguration): DynamicModule {
    const timeoutMs = configuration.dependencyTimeoutMs;
    return {
      module: TokenModule,
      imports: [
        LoggingModule.forRoot('token', configuration.LOG_LEVEL),
        PassportModule,
        DirectoryModule.forRoot({
          databaseUrl: configuration.DATABASE_URL,
          schema: configuration.DATABASE_SCHEMA,
          timeoutMs,
        }),
        RedisModule.forRoot(configuration.REDIS_URL, timeoutMs),
        ConnectionModule.forRoot({ natsUrl: configuration.NATS_URL, name: 'token', timeoutMs }),
      ],
      controllers: [
        TokenController,
        RefreshController,
        RevokeController,
        ParController,
        IntrospectionController,
        MetadataController,
        IntrospectionResponder,
        ProfileResponder,
        SpendResponder,
        RevocationResponder,
      ],
      providers: [
        { provide: TokenConfiguration, useValue: configuration },
        { provide: APP_FILTER, useClass: OAuthErrorFilter },
        grantEngineProvider(configuration.TOKEN_KEYS, lifetimesOf(configuration)),
        { provide: MONOTONIC_CLOCK, useValue: () => performance.now() },
        RevocationReplay,
        RevocationKeeper,
        NatsReadiness,
        TokenReadiness,
        ClientCacheMetrics,
        ClientCache,
        ClientAuthenticator,
        ResourceServerAuthenticator,
        UsageRecorder,
        ProofStore,
        ProofSpender,
        TokenService,
        TokenRequest,
        PushedRequestStore,
        ParService,
        RefreshTokenStrategy,
      ],
    };
  }
}
