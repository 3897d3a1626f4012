import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DirectoryHealthStore } from '#directory/directory-health.store.js';
import { DirectoryModule } from '#directory/directory.module.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#grants/key-ring.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { HealthModule } from '#service/health/health.module.js';
import { Readiness } from '#service/health/readiness.js';
import { LoggingModule } from '#service/logging/logging.module.js';
import { RedisModule } from '#service/redis/redis.module.js';
import { REDIS } from '#service/redis/redis.token.js';
import { PushedRequestStore } from '#authorization/pushed-request.store.js';
import { AuthorizeConfiguration } from './authorize.configuration.js';
import { AuthorizationRequestService } from './authorize/authorization-request.service.js';
import { AuthorizationResponse } from './authorize/authorization-response.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { CLOCK } from './clock.js';
import { PushedRequestService } from './authorize/pushed-request.service.js';
import { ConsentService } from './consent/consent.service.js';
import { AccountController } from './login/account.controller.js';
import { LoginController } from './login/login.controller.js';
import { LoginService } from './login/login.service.js';
import { PasswordGate } from './login/password-gate.js';
import { PageErrorFilter } from './page/page-error.filter.js';
import { PageSurface } from './page/page-surface.js';
import { PageResponder } from './page/page.responder.js';
import { BrowserCookie } from './session/browser-cookie.js';
import { FormGuard } from './session/form-guard.js';
import { SessionService } from './session/session.service.js';
import { SessionStore } from './session/session.store.js';

const GRANTS = [
  {
    provide: GrantStore,
    inject: [REDIS],
    useFactory: (redis: ConstructorParameters<typeof GrantStore>[0]) => new GrantStore(redis),
  },
  {
    provide: TokenIssuer,
    inject: [AuthorizeConfiguration],
    useFactory: ({ TOKEN_KEYS, CODE_LIFETIME }: AuthorizeConfiguration) =>
      new TokenIssuer(new TokenCodec(KeyRing.parse(TOKEN_KEYS)), {
        ...DEFAULT_LIFETIMES,
        code: CODE_LIFETIME,
      }),
  },
];

/** The pages: authorize, login, consent. */
@Module({})
export class AuthorizeModule {
  constructor(readiness: Readiness, directory: DirectoryHealthStore) {
    readiness.add('postgres', () => directory.ping());
  }

  static forRoot(configuration: AuthorizeConfiguration): DynamicModule {
    return {
      module: AuthorizeModule,
      imports: [
        HealthModule,
        LoggingModule.forRoot('authorize', configuration.LOG_LEVEL),
        DirectoryModule.forRoot({ databaseUrl: configuration.DATABASE_URL }),
        RedisModule.forRoot(configuration.REDIS_URL),
      ],
      controllers: [AuthorizeController, LoginController, AccountController],
      providers: [
        { provide: AuthorizeConfiguration, useValue: configuration },
        { provide: CLOCK, useValue: Date.now },
        { provide: PasswordGate, useValue: new PasswordGate() },
        { provide: APP_FILTER, useClass: PageErrorFilter },
        ...GRANTS,
        AuthorizationRequestService,
        AuthorizationResponse,
        BrowserCookie,
        ConsentService,
        FormGuard,
        LoginService,
        PageResponder,
        PageSurface,
        PushedRequestService,
        PushedRequestStore,
        SessionService,
        SessionStore,
      ],
    };
  }
}
