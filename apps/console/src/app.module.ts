import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { PAGE_HEADERS } from '#ui/html.js';
import type { Service } from '#platform/bootstrap/service.js';
import { type Clock, CLOCK } from '#platform/clock.js';
import { ClientOperationsModule } from '#clients/operations/client-operations.module.js';
import { UserOperationsModule } from '#users/operations/user-operations.module.js';
import { GrantOperationsModule } from '#grants/operations/grant.service.js';
import { EventOperationsModule } from '#events/operations/event-operations.module.js';
import { KeyOperationsModule } from '#keys/operations/key.service.js';
import { AuditOperationsModule } from '#audit/operations/audit-operations.module.js';
import { DiagnosisModule } from '#diagnosis/doctor.service.js';
import { administrationSettings } from '#operations/administration.options.js';
import { OperationsModule } from '#operations/operations.module.js';
import { OperatorNats } from '#operations/operator-nats.js';
import { AuditModule } from '#audit/audit.module.js';
import { DatabaseModule } from '#database/database.module.js';
import { IntrospectionModule } from '#introspection/index.js';
import { readScopeFile } from '#scopes/scope-file.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { ConfigurationFilesModule } from '#platform/configuration/configuration-files.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { Brand, readBrand } from '#ui/brand/brand.js';
import { ApiModule } from './api/api.module.js';
import { acceptImages, parseApiBody } from './api/request-input.js';
import { ApplicationsModule } from './applications/applications.module.js';
import { BackgroundTasks } from './background-tasks.js';
import { AccountGuard, Accounts } from '#pages/account.guard.js';
import { PagesModule } from '#pages/pages.module.js';
import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { ConsoleFrame } from './ui/console-frame.js';
import { ConsoleConfiguration } from './console.configuration.js';
import { ErrorFilter } from './error.filter.js';
import { HealthModule } from './health/health.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { OperatorLoginModule } from './login/operator-login.module.js';
import { addRateLimits } from '#pages/rate-limit.js';
import { RunningReports } from './concurrency-limit.interceptor.js';
import { FormInterceptor } from '#pages/form.interceptor.js';
import { OperatorAccounts } from './session/operator-accounts.js';
import { recognizeOperatorsWithoutRoute } from './session/operator-sessions.service.js';
import { OperatorSessionModule } from './session/operator-session.module.js';
import { acceptUploads, parsePageForm, refuseNul } from '#pages/form.js';
import { ConsoleNats } from './console-nats.js';
import { PAGE_RULES } from '#pages/stylesheet.js';
import { AuditController } from './audit/audit.controller.js';
import { EventsController } from './events/events.controller.js';
import { AdminGauge } from './operators/admin-gauge.js';
import { OperatorsController } from './operators/operators.controller.js';
import { RequestsController } from './requests/requests.controller.js';
import { OverviewController } from './overview/overview.controller.js';
import { PageInterceptor } from '#pages/page.responder.js';
import { GrantsController, UsersController } from './users/users.controller.js';

/** Configuration and connections, which every feature uses. */
@Module({})
class CoreModule {
  static forRoot(configuration: ConsoleConfiguration, clock: Clock): DynamicModule {
    const { dependencyTimeoutMs: timeoutMs } = configuration;
    const scopes = readScopeFile(configuration, true);
    const database = DatabaseModule.forRoot({
      process: 'console',
      databaseUrl: configuration.DATABASE_URL,
      schema: configuration.DATABASE_SCHEMA,
      timeoutMs,
    });
    const services = [
      database,
      OperationsModule.forRoot(
        { settings: administrationSettings(configuration), scopes: () => scopes },
        [database],
        { provide: OperatorNats, useClass: ConsoleNats },
      ),
      ClientOperationsModule,
      UserOperationsModule,
      GrantOperationsModule,
      EventOperationsModule,
      KeyOperationsModule,
      AuditOperationsModule,
      DiagnosisModule,
      RedisModule.forRoot({ process: 'console', redisUrl: configuration.REDIS_URL, timeoutMs }),
    ];
    const providers: Provider[] = [
      { provide: ConsoleConfiguration, useValue: configuration },
      { provide: Brand, useValue: readBrand(configuration, PAGE_RULES) },
      { provide: CLOCK, useValue: clock },
      { provide: ScopeCatalogue, useValue: scopes.value },
      RunningReports,
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [
        ...services,
        ConfigurationFilesModule.forRoot([scopes]),
        AuditModule.forRoot({
          service: 'operator',
          natsUrl: configuration.auditUrl,
          clientAddress: configuration.AUDIT_CLIENT_ADDRESS,
        }),
        IntrospectionModule.forRoot({
          natsUrl: configuration.NATS_URL,
          name: 'console',
          timeoutMs,
          resourceUrl: configuration.CONSOLE_URL,
          clockSkew: configuration.CLOCK_SKEW,
        }),
      ],
      providers,
      exports: [...services, ...providers],
    };
  }
}

@Module({})
class AppModule {
  static forRoot(configuration: ConsoleConfiguration, clock: Clock): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(configuration, clock),
        PagesModule.forRoot(configuration.pages, ConsoleFrame),
        OperatorSessionModule,
        OperatorLoginModule,
        ApplicationsModule,
        JobsModule,
        HealthModule,
        ApiModule,
      ],
      controllers: [
        OverviewController,
        UsersController,
        GrantsController,
        OperatorsController,
        RequestsController,
        EventsController,
        AuditController,
      ],
      providers: [
        AdminGauge,
        BackgroundTasks,
        { provide: Accounts, useClass: OperatorAccounts },
        { provide: APP_GUARD, useClass: AccountGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_INTERCEPTOR, useClass: PageInterceptor },
        { provide: APP_INTERCEPTOR, useClass: FormInterceptor },
      ],
    };
  }
}

export function consoleApp(
  configuration: ConsoleConfiguration,
  clock: Clock = Date.now,
): Service<ConsoleConfiguration> {
  return {
    name: 'console',
    module: AppModule.forRoot(configuration, clock),
    configuration,
    sharedSettings: configuration.sharedSettings,
    // Pages post forms. The API reads only JSON, which a script of another site can send only after a preflight.
    bodyParsers: {
      'application/x-www-form-urlencoded': parsePageForm,
      'application/json': parseApiBody,
      'application/merge-patch+json': parseApiBody,
    },
    // Unlike the login page of users, no page of the console opens in a popup of an application.
    headers: { ...PAGE_HEADERS, 'Cross-Origin-Opener-Policy': 'same-origin' },
    configure: async (app) => {
      const fastify = app.getHttpAdapter().getInstance();
      acceptUploads(fastify, MAX_LOGO_BYTES);
      acceptImages(fastify);
      refuseNul(fastify);
      recognizeOperatorsWithoutRoute(app);
      await addRateLimits(app);
    },
  };
}
