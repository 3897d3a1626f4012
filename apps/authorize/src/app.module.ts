import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { PAGE_HEADERS } from '#ui/html.js';
import { parseOnlyForm } from '#oauth/parameters.js';
import { type Clock, CLOCK } from '#platform/clock.js';
import type { Service } from '#platform/bootstrap/service.js';
import { AuditModule } from '#audit/audit.module.js';
import { AuditPublisher } from '#audit/publisher.js';
import { ClientChanges } from '#clients/documents/client-documents.service.js';
import { ClientDocumentsModule } from '#clients/documents/client-documents.module.js';
import { DatabaseModule } from '#database/database.module.js';
import { GrantsModule } from '#grants/grants.module.js';
import { KeyRingRecorder } from '#keys/key-ring-recorder.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { RevocationPublisher } from '#grants/revocation.service.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { ConfigurationFilesModule } from '#platform/configuration/configuration-files.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { StatusReport } from '#platform/status/status-report.js';
import { AuthorizeConfiguration } from './configuration/authorize.configuration.js';
import { AuthorizeModule } from './authorize/authorize.module.js';
import { DeviceModule } from './device/device.module.js';
import { ErrorFilter } from './error.filter.js';
import { JwtLoginModule } from './jwt-login/jwt-login.module.js';
import { LoginModule } from './login/login.module.js';
import { SessionModule } from './session/session.module.js';
import { OidcLoginModule } from './oidc-login/oidc-login.module.js';
import { malformedRequestPage } from './ui/errors/error.page.js';
import { UiModule } from './ui/ui.module.js';
import { OperatorResponder } from './operator.responder.js';
import { ConfirmingRevocationPublisher } from './confirming-revocation.publisher.js';
import { UiOptions } from './ui/ui-options.js';

/** Configuration and connections, which every feature uses. */
import { AccountController } from './account/account.controller.js';
import { ConnectedAppsController } from './connected-apps/connected-apps.controller.js';
import { ErrorGuideController } from './error-guide/error-guide.controller.js';
import { LogoController } from './logo/logo.controller.js';
import { LogoService } from './logo/logo.service.js';

@Module({})
class CoreModule {
  constructor(keys: KeyRingRecorder, audit: AuditPublisher, idTokenKeys: SigningKeys, status: StatusReport) {
    status.register('id_token_keys', () => idTokenKeys.roles);
    keys.onChange(({ key, previousKey }) =>
      audit.record({ type: 'token_key.changed', detail: { key, previous_key: previousKey } }),
    );
  }

  static forRoot(configuration: AuthorizeConfiguration, clock: Clock): DynamicModule {
    const { AUTH_URL, dependencyTimeoutMs: timeoutMs } = configuration;
    const { scopes } = configuration;
    const requests = new OperatorResponder();
    const stores = [
      DatabaseModule.forRoot({
        process: 'authorize',
        databaseUrl: configuration.DATABASE_URL,
        schema: configuration.DATABASE_SCHEMA,
        timeoutMs,
      }),
      RedisModule.forRoot({ process: 'authorize', redisUrl: configuration.REDIS_URL, timeoutMs }),
    ];
    const grants = GrantsModule.forRoot({
      imports: stores,
      tokenKeys: configuration.TOKEN_KEYS,
      lifetimes: {
        ...DEFAULT_LIFETIMES,
        code: configuration.CODE_LIFETIME,
        refreshToken: configuration.REFRESH_TOKEN_LIFETIME,
        clockSkew: configuration.CLOCK_SKEW,
      },
      publisher: {
        provide: RevocationPublisher,
        inject: [StatusReport],
        useFactory: (status: StatusReport) =>
          new ConfirmingRevocationPublisher(configuration.NATS_URL, timeoutMs / 2, status, requests),
      },
      transitions: ['created', 'revoked'],
    });
    const uiOptions: UiOptions = {
      brand: configuration.brand,
      secure: AUTH_URL.startsWith('https:'),
    };
    const providers: Provider[] = [
      { provide: AuthorizeConfiguration, useValue: configuration },
      { provide: UiOptions, useValue: uiOptions },
      { provide: OperatorResponder, useValue: requests },
      { provide: ScopeCatalogue, useValue: scopes.value },
      { provide: SigningKeys, useValue: configuration.signingKeys },
      { provide: CLOCK, useValue: clock },
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [
        ...stores,
        grants,
        AuditModule.forRoot({
          service: 'authorize',
          natsUrl: configuration.auditUrl,
          clientAddress: configuration.AUDIT_CLIENT_ADDRESS,
        }),
        ConfigurationFilesModule.forRoot([scopes]),
        ClientDocumentsModule.forRoot(configuration, {
          provide: ClientChanges,
          inject: [RevocationPublisher],
          useFactory: (publisher: ConfirmingRevocationPublisher): ClientChanges => ({
            publish: (id) => publisher.publishChange(id),
          }),
        }),
      ],
      providers,
      exports: [...stores, grants, ...providers],
    };
  }
}

@Module({})
export class AppModule {
  static forRoot(configuration: AuthorizeConfiguration, clock: Clock = Date.now): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(configuration, clock),
        UiModule,
        SessionModule,
        loginModule(configuration),
        AuthorizeModule,
        DeviceModule,
      ],
      controllers: [AccountController, ConnectedAppsController, LogoController, ErrorGuideController],
      providers: [LogoService, { provide: APP_FILTER, useClass: ErrorFilter }],
    };
  }
}

function loginModule({ LOGIN_ISSUER, LOGIN_URL }: AuthorizeConfiguration): Type {
  if (LOGIN_ISSUER !== '') return OidcLoginModule;
  return LOGIN_URL === '' ? LoginModule : JwtLoginModule;
}

export function authorizeApp(
  configuration: AuthorizeConfiguration,
  clock: Clock = Date.now,
): Service<AuthorizeConfiguration> {
  const { brand } = configuration;
  return {
    name: 'authorize',
    module: AppModule.forRoot(configuration, clock),
    configuration,
    sharedSettings: configuration.sharedSettings,
    // Pages post only forms; a request with any other content type gets 415.
    bodyParsers: { 'application/x-www-form-urlencoded': parseOnlyForm },
    headers: PAGE_HEADERS,
    malformedRequest: (status) => malformedRequestPage(status, brand),
  };
}
