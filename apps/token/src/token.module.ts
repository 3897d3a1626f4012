import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { PassportModule } from '@nestjs/passport';
import { PushedRequestStore } from '#grants/pushed-request.store.js';
import { DirectoryModule } from '#database/database.module.js';
import { ConnectionModule } from '#platform/nats/nats.module.js';
import { LoggingModule } from '#platform/logging/logging.module.js';
import { OAuthErrorFilter } from '#platform/oauth/oauth-error.filter.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { ClientAuthenticator } from './client-auth/client-authenticator.service.js';
import { ClientCache } from './client-auth/client-cache.js';
import { DpopProofService } from './dpop/dpop-proof.service.js';
import { ProofStore } from './dpop/proof.store.js';
import { ConsumeProofResponder } from './dpop/consume-proof.responder.js';
import { grantEngineProvider } from './token/grant-engine.provider.js';
import { MONOTONIC_CLOCK } from './revocation/monotonic-clock.js';
import { RevocationKeeper } from './revocation/revocation-keeper.service.js';
import { RevocationReplay } from './revocation/revocation-replay.service.js';
import { RevocationResponder } from './revocation/revocation.responder.js';
import { NatsReadiness } from './health/nats-readiness.js';
import { TokenReadiness } from './health/token-readiness.js';
import { IntrospectionController } from './introspection/introspection.controller.js';
import { ResourceServerAuthenticator } from './client-auth/resource-server-authenticator.service.js';
import { IntrospectionResponder } from './introspection/introspection.responder.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { ParController } from './par/par.controller.js';
import { ParService } from './par/par.service.js';
import { ProfileResponder } from './introspection/profile.responder.js';
import { RefreshTokenStrategy } from './token/refresh-token.strategy.js';
import { RefreshController } from './token/refresh.controller.js';
import { RevokeController } from './revocation/revoke.controller.js';
import { lifetimesOf, TokenConfiguration } from './token.configuration.js';
import { ClientCacheMetrics } from './client-auth/client-cache-metrics.js';
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
        ConsumeProofResponder,
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
        DpopProofService,
        TokenService,
        TokenRequest,
        PushedRequestStore,
        ParService,
        RefreshTokenStrategy,
      ],
    };
  }
}
