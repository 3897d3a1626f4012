import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DirectoryHealthStore } from '#database/connection/database-health.store.js';
import { DirectoryModule } from '#database/database.module.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { Readiness } from '#platform/health/readiness.js';
import { LoggingModule } from '#platform/logging/logging.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { GrantsModule } from '#grants/grants.module.js';
import { RevocationPublisher } from '#grants/revocation.publisher.js';
import { AuthorizeConfiguration } from './authorize.configuration.js';
import { AuthorizationRequestService } from './authorize/authorization-request.service.js';
import { AuthorizationResponse } from './authorize/authorization-response.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { CLOCK } from './clock.js';
import { PushedRequestService } from './authorize/pushed-request.service.js';
import { LanguageCookie } from './ui/i18n/language-cookie.js';
import { LanguageService } from './ui/i18n/language.service.js';
import { ScriptController } from './ui/script.controller.js';
import { CookieDoctor } from './session/cookie-doctor.service.js';
import { ConsentService } from './consent/consent.service.js';
import { AccountController } from './account/account.controller.js';
import { FrontController } from './account/front.controller.js';
import { ConnectedAppsController } from './connected-apps/connected-apps.controller.js';
import { RevokeController } from './connected-apps/revoke.controller.js';
import { ConfirmingRevocationPublisher } from './connected-apps/revocation.publisher.js';
import { LogoController } from './logo/logo.controller.js';
import { LogoService } from './logo/logo.service.js';
import { LoginController } from './login/login.controller.js';
import { LoginService } from './login/login.service.js';
import { NoticeStore } from './session/notice.store.js';
import { PasswordGate } from './login/password-gate.js';
import { PageErrorFilter } from './ui/errors/page-error.filter.js';
import { PageSurface } from './ui/page-surface.js';
import { PageResponder } from './ui/page.responder.js';
import { BrowserCookie } from './session/browser-cookie.js';
import { CurrentAccountService } from './session/current-account.service.js';
import { FormGuard } from './session/form-guard.js';
import { SessionService } from './session/session.service.js';
import { SessionStore } from './session/session.store.js';
import { DeviceCookie } from './login/throttle/device-cookie.js';
import { LoginThrottle } from './login/throttle/login-throttle.service.js';
import { ThrottleStore } from './login/throttle/throttle.store.js';

/** The pages: authorize, login, consent. */
@Module({})
export class AuthorizeModule {
  constructor(readiness: Readiness, directory: DirectoryHealthStore) {
    readiness.add('postgres', () => directory.ping());
    readiness.add('migrations', () => directory.migrated());
  }

  static forRoot(configuration: AuthorizeConfiguration): DynamicModule {
    const timeoutMs = configuration.dependencyTimeoutMs;
    const stores = [
      DirectoryModule.forRoot({
        databaseUrl: configuration.DATABASE_URL,
        schema: configuration.DATABASE_SCHEMA,
        timeoutMs,
      }),
      RedisModule.forRoot(configuration.REDIS_URL, timeoutMs),
    ];
    return {
      module: AuthorizeModule,
      imports: [
        LoggingModule.forRoot('authorize', configuration.LOG_LEVEL),
        ...stores,
        GrantsModule.forRoot({
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
            useFactory: () => new ConfirmingRevocationPublisher(configuration.NATS_URL, timeoutMs / 2),
          },
          transitions: ['created', 'revoked'],
        }),
      ],
      controllers: [
        AuthorizeController,
        LogoController,
        LoginController,
        AccountController,
        FrontController,
        ScriptController,
        ConnectedAppsController,
        RevokeController,
      ],
      providers: [
        { provide: AuthorizeConfiguration, useValue: configuration },
        { provide: CLOCK, useValue: Date.now },
        { provide: PasswordGate, useValue: new PasswordGate() },
        { provide: APP_FILTER, useClass: PageErrorFilter },
        AuthorizationRequestService,
        AuthorizationResponse,
        BrowserCookie,
        ConsentService,
        CurrentAccountService,
        CookieDoctor,
        FormGuard,
        LanguageCookie,
        LanguageService,
        DeviceCookie,
        LoginService,
        LogoService,
        LoginThrottle,
        ThrottleStore,
        NoticeStore,
        PageResponder,
        PageSurface,
        PushedRequestService,
        SessionService,
        SessionStore,
      ],
    };
  }
}
