import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { ClientOperationsModule } from '#clients/operations/client-operations.module.js';
import { DatabaseModule } from '#database/database.module.js';
import { NatsModule } from '#messaging/nats.module.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { OperationsModule } from '#operations/operations.module.js';
import { OperatorNats } from '#operations/operator-nats.js';
import { AccountGuard, Accounts } from '#pages/account.guard.js';
import { FormInterceptor } from '#pages/form.interceptor.js';
import { acceptUploads, parsePageForm, refuseNul } from '#pages/form.js';
import { PageInterceptor } from '#pages/page.responder.js';
import { PagesModule } from '#pages/pages.module.js';
import { addRateLimits } from '#pages/rate-limit.js';
import { PAGE_RULES } from '#pages/stylesheet.js';
import type { Service } from '#platform/bootstrap/service.js';
import { type Clock, CLOCK } from '#platform/clock.js';
import { ConfigurationFilesModule } from '#platform/configuration/configuration-files.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { readScopeFile } from '#scopes/scope-file.js';
import { Brand, readBrand } from '#ui/brand/brand.js';
import { PAGE_HEADERS } from '#ui/html.js';
import { RefusedRequestService } from '#audit/operations/refused/refused-request.service.js';
import { ActivityController } from './activity/activity.controller.js';
import { ApplicationsController } from './applications/applications.controller.js';
import { ChangeController } from './applications/change.controller.js';
import { KeysController } from './applications/keys.controller.js';
import { SecretsController } from './applications/secrets.controller.js';
import { DevelopersConfiguration } from './developers.configuration.js';
import { DevelopersNats } from './developers-nats.js';
import { ErrorFilter } from './error.filter.js';
import { LoginController } from './login/login.controller.js';
import { RequestsController } from './requests/requests.controller.js';
import { DeveloperAccounts } from './session/developer-accounts.js';
import { DeveloperInterceptor } from './session/developer.interceptor.js';
import { InvitationController, InvitationCookie } from './team/invitation.controller.js';
import { TeamController } from './team/team.controller.js';
import { TestsController } from './team/tests.controller.js';
import { EventsController } from './events/events.controller.js';
import { OwnedEventService } from '#events/operations/owned-events.service.js';
import { FlowStore } from './try/flow.store.js';
import { TryController } from './try/try.controller.js';
import { DevelopersFrame } from './ui/developers-frame.js';
import { Languages } from './ui/i18n/languages.js';

/** Configuration and connections, which every feature uses. */
@Module({})
class CoreModule {
  static forRoot(configuration: DevelopersConfiguration, clock: Clock): DynamicModule {
    const { dependencyTimeoutMs: timeoutMs } = configuration;
    const scopes = readScopeFile(configuration, true);
    const database = DatabaseModule.forRoot({
      process: 'developers',
      databaseUrl: configuration.DATABASE_URL,
      schema: configuration.DATABASE_SCHEMA,
      timeoutMs,
    });
    const nats = NatsModule.forRoot({
      natsUrl: configuration.NATS_URL,
      name: 'developers',
      timeoutMs,
      invalidations: {},
    });
    const services = [
      database,
      nats,
      OperationsModule.forRoot(
        { settings: configuration.administration, scopes: () => scopes },
        [database, nats],
        {
          provide: OperatorNats,
          useClass: DevelopersNats,
        },
      ),
      ClientOperationsModule,
      RedisModule.forRoot({ process: 'developers', redisUrl: configuration.REDIS_URL, timeoutMs }),
    ];
    const providers: Provider[] = [
      { provide: DevelopersConfiguration, useValue: configuration },
      { provide: Brand, useValue: readBrand(configuration, PAGE_RULES) },
      { provide: CLOCK, useValue: clock },
      { provide: ScopeCatalogue, useValue: scopes.value },
      Languages,
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [...services, ConfigurationFilesModule.forRoot([scopes])],
      providers,
      exports: [...services, ...providers],
    };
  }
}

@Module({})
class AppModule {
  static forRoot(configuration: DevelopersConfiguration, clock: Clock): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(configuration, clock),
        PagesModule.forRoot(configuration.pages, DevelopersFrame),
      ],
      controllers: [
        LoginController,
        RequestsController,
        InvitationController,
        TeamController,
        TestsController,
        SecretsController,
        KeysController,
        ChangeController,
        ActivityController,
        EventsController,
        TryController,
        ApplicationsController,
      ],
      providers: [
        InvitationCookie,
        OwnedEventService,
        FlowStore,
        RefusedRequestService,
        { provide: Accounts, useClass: DeveloperAccounts },
        { provide: APP_GUARD, useClass: AccountGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
        // The first interceptor wraps the others.
        { provide: APP_INTERCEPTOR, useClass: DeveloperInterceptor },
        { provide: APP_INTERCEPTOR, useClass: PageInterceptor },
        { provide: APP_INTERCEPTOR, useClass: FormInterceptor },
      ],
    };
  }
}

export function developersApp(
  configuration: DevelopersConfiguration,
  clock: Clock = Date.now,
): Service<DevelopersConfiguration> {
  return {
    name: 'developers',
    module: AppModule.forRoot(configuration, clock),
    configuration,
    sharedSettings: configuration.sharedSettings,
    bodyParsers: { 'application/x-www-form-urlencoded': parsePageForm },
    // Unlike the login page of users, no page of the portal opens in a popup of an application.
    headers: { ...PAGE_HEADERS, 'Cross-Origin-Opener-Policy': 'same-origin' },
    configure: async (app) => {
      const fastify = app.getHttpAdapter().getInstance();
      acceptUploads(fastify, MAX_LOGO_BYTES);
      refuseNul(fastify);
      await addRateLimits(app);
    },
  };
}
