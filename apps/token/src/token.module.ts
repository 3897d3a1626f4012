import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { CustomStrategy } from '@nestjs/microservices';
import { PassportModule } from '@nestjs/passport';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { parseForm, parseJson } from '#oauth/parameters.js';
import type { Service } from '#platform/bootstrap/service.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import { GracefulNatsServer } from './graceful-nats-server.js';
import { GrantsModule } from '#grants/grants.module.js';
import { NatsRevocationPublisher, RevocationPublisher } from '#grants/revocation.publisher.js';
import { DatabaseModule } from '#database/database.module.js';
import { INVALIDATIONS } from '#introspection/contract.js';
import { NatsModule } from '#platform/nats/nats.module.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { ClientAuthenticator } from './client-auth/client-authenticator.service.js';
import { ClientCache } from './client-auth/client-cache.js';
import { DpopProofService } from './dpop/dpop-proof.service.js';
import { ProofStore } from './dpop/proof.store.js';
import { ConsumeProofResponder } from './dpop/consume-proof.responder.js';
import { RevocationReconciler } from './revocation/revocation-reconciler.service.js';
import { RevocationResponder } from './revocation/revocation.responder.js';
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

/** What this app does to grants; the authorize app creates them. */
const TRANSITIONS = [
  'redeemed',
  'refreshed',
  'retried',
  'restored',
  'revoked',
  'code_replayed',
  'refresh_token_reused',
  'verifier_mismatch',
] as const;

/** The token app: token endpoints over HTTP, introspection and profiles over NATS. */
@Module({})
export class TokenModule {
  static forRoot(configuration: TokenConfiguration): DynamicModule {
    const timeoutMs = configuration.dependencyTimeoutMs;
    const connections = [
      DatabaseModule.forRoot({
        databaseUrl: configuration.DATABASE_URL,
        schema: configuration.DATABASE_SCHEMA,
        timeoutMs,
      }),
      RedisModule.forRoot(configuration.REDIS_URL, timeoutMs),
      NatsModule.forRoot({
        natsUrl: configuration.NATS_URL,
        name: 'token',
        timeoutMs,
        invalidations: INVALIDATIONS,
      }),
    ];
    return {
      module: TokenModule,
      imports: [
        PassportModule,
        ...connections,
        GrantsModule.forRoot({
          imports: connections,
          tokenKeys: configuration.TOKEN_KEYS,
          lifetimes: lifetimesOf(configuration),
          publisher: { provide: RevocationPublisher, useClass: NatsRevocationPublisher },
          transitions: TRANSITIONS,
        }),
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
        RevocationReconciler,
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
        ParService,
        RefreshTokenStrategy,
      ],
    };
  }
}

/** The endpoints that public clients call from a browser. Introspection is for resource servers only. */
const BROWSER_ENDPOINTS = [
  ENDPOINTS.token,
  ENDPOINTS.refreshToken,
  ENDPOINTS.revoke,
  ENDPOINTS.par,
  ENDPOINTS.authorizationServerMetadata,
];

/** The token app as a process runs it: HTTP for applications, NATS for resource servers. */
export function tokenApp(configuration: TokenConfiguration): Service<TokenConfiguration> {
  return {
    name: 'token',
    module: TokenModule.forRoot(configuration),
    configuration,
    bodyParsers: { 'application/x-www-form-urlencoded': parseForm, 'application/json': parseJson },
    crossOriginPaths: BROWSER_ENDPOINTS,
    configure: (app) => {
      // Queue group: each NATS request goes to one of the app's instances.
      const options = { ...natsOptions(configuration.NATS_URL, 'token responder'), queue: 'token' };
      app.connectMicroservice<CustomStrategy>({
        strategy: new GracefulNatsServer(options, configuration.dependencyTimeoutMs),
      });
    },
  };
}
