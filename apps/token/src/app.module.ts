import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { CustomStrategy } from '@nestjs/microservices';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { parseForm, parseJson } from '#oauth/parameters.js';
import type { Service } from '#platform/bootstrap/service.js';
import { NatsConnection, natsOptions } from '#messaging/nats.connection.js';
import { AuditModule } from '#audit/audit.module.js';
import { AuditPublisher } from '#audit/publisher.js';
import { ClientChanges } from '#clients/documents/client-documents.service.js';
import { ClientDocumentsModule } from '#clients/documents/client-documents.module.js';
import { DatabaseModule } from '#database/database.module.js';
import { GivenUpRequests, NatsGivenUpRequests } from '#grants/given-up.js';
import { GrantsModule } from '#grants/grants.module.js';
import { KeyRingRecorder, type RecordedRing } from '#keys/key-ring-recorder.js';
import { NatsRevocationPublisher, RevocationPublisher } from '#grants/revocation.service.js';
import { type ClientChanged, SUBJECTS, TOKEN_APP_BROADCASTS } from '#messaging/contract.js';
import { StatusReport } from '#platform/status/status-report.js';
import { LOGOUT_TOKEN_LIFETIME_S } from '#oauth/openid/id-token.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { CLOCK } from '#platform/clock.js';
import { ConfigurationFilesModule } from '#platform/configuration/configuration-files.module.js';
import { NatsModule } from '#messaging/nats.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { GracefulNatsServer } from './graceful-nats-server.js';
import { DeviceAuthorizationModule } from './device-authorization/device-authorization.module.js';
import { EventsModule } from './events/events.module.js';
import { TokenIntrospectionModule } from './introspection/token-introspection.module.js';
import { MailModule } from './mail/mail.module.js';
import { MetadataModule } from './metadata/metadata.module.js';
import { errorBody, OAuthErrorFilter } from './oauth-error.filter.js';
import { ParModule } from './par/par.module.js';
import { RequestCounterStore } from './request-counter.store.js';
import { RevocationModule } from './revocation/revocation.module.js';
import { UserChangesModule } from './user-changes/user-changes.module.js';
import { TokenModule } from './token/token.module.js';
import { lifetimesOf, TokenConfiguration } from './token.configuration.js';

/** Transitions of grants in this app. Other transitions happen in the authorize app. */
const TRANSITIONS = [
  'issued',
  'redeemed',
  'refreshed',
  'retried',
  'restored',
  'revoked',
  'code_replayed',
  'refresh_token_reused',
  'verifier_mismatch',
] as const;

/** Configuration and connections, which every feature uses. */
@Module({})
class CoreModule {
  constructor(keys: KeyRingRecorder, audit: AuditPublisher, idTokenKeys: SigningKeys, status: StatusReport) {
    status.register('id_token_keys', () => idTokenKeys.roles);
    keys.onChange(({ ring, key, previousKey }) =>
      audit.record({
        type: 'token_key.changed',
        detail: { key, previous_key: previousKey, ...(ring !== 'token' && { alg: ring }) },
      }),
    );
  }

  static forRoot(configuration: TokenConfiguration): DynamicModule {
    const { DATABASE_URL, DATABASE_SCHEMA, REDIS_URL, NATS_URL, dependencyTimeoutMs } = configuration;
    const { scopes } = configuration;
    const connections = [
      DatabaseModule.forRoot({
        process: 'token',
        databaseUrl: DATABASE_URL,
        schema: DATABASE_SCHEMA,
        timeoutMs: dependencyTimeoutMs,
      }),
      RedisModule.forRoot({ process: 'token', redisUrl: REDIS_URL, timeoutMs: dependencyTimeoutMs }),
      NatsModule.forRoot({
        natsUrl: NATS_URL,
        name: 'token',
        timeoutMs: dependencyTimeoutMs,
        invalidations: TOKEN_APP_BROADCASTS,
      }),
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [
        ...connections,
        AuditModule.forRoot({
          service: 'token',
          natsUrl: configuration.auditUrl,
          clientAddress: configuration.AUDIT_CLIENT_ADDRESS,
        }),
        ConfigurationFilesModule.forRoot([scopes]),
        ClientDocumentsModule.forRoot(configuration, {
          provide: ClientChanges,
          inject: [NatsConnection],
          useFactory: (nats: NatsConnection): ClientChanges => ({
            publish: (id) => nats.publish(SUBJECTS.clientChanged, { client_id: id } satisfies ClientChanged),
          }),
        }),
        GrantsModule.forRoot({
          imports: connections,
          tokenKeys: configuration.TOKEN_KEYS,
          lifetimes: lifetimesOf(configuration),
          otherRings: idTokenRings(configuration),
          publisher: { provide: RevocationPublisher, useClass: NatsRevocationPublisher },
          givenUp: { provide: GivenUpRequests, useClass: NatsGivenUpRequests },
          transitions: TRANSITIONS,
        }),
      ],
      providers: [
        { provide: TokenConfiguration, useValue: configuration },
        { provide: ScopeCatalogue, useValue: scopes.value },
        { provide: SigningKeys, useValue: configuration.signingKeys },
        { provide: CLOCK, useValue: Date.now },
        RequestCounterStore,
      ],
      exports: [
        TokenConfiguration,
        ScopeCatalogue,
        SigningKeys,
        CLOCK,
        RequestCounterStore,
        GrantsModule,
        DatabaseModule,
        RedisModule,
        NatsModule,
      ],
    };
  }
}

function idTokenRings({
  signingKeys,
  ACCESS_TOKEN_LIFETIME,
  CLOCK_SKEW,
}: TokenConfiguration): RecordedRing[] {
  return signingKeys.algorithms.map((ring) => ({
    ring,
    ids: signingKeys.ids.filter(({ alg }) => alg === ring).map(({ id }) => id),
    lifetimeS: Math.max(ACCESS_TOKEN_LIFETIME, LOGOUT_TOKEN_LIFETIME_S) + CLOCK_SKEW,
  }));
}

@Module({})
class AppModule {
  static forRoot(configuration: TokenConfiguration): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(configuration),
        TokenModule,
        RevocationModule,
        TokenIntrospectionModule,
        ParModule,
        DeviceAuthorizationModule,
        EventsModule,
        MailModule,
        MetadataModule,
        UserChangesModule,
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
