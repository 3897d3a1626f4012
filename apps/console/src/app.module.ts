import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { AdministrationModule } from '#administration/administration.module.js';
import { AuditModule } from '#audit/audit.module.js';
import { DatabaseModule } from '#database/database.module.js';
import type { Service } from '#platform/bootstrap/service.js';
import { readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { ConfigurationFilesModule } from '#platform/configuration/configuration-files.module.js';
import { scopeFile } from '#oauth/scope-file.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { IntrospectionModule } from '#introspection/index.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { readBrand } from '#ui/brand/brand.js';
import { PAGE_HEADERS } from '#ui/page-headers.js';
import { ClientsApiController } from './api/clients.controller.js';
import { GrantsApiController } from './api/grants.controller.js';
import { parseApiBody } from './api/input.js';
import { OpenApiController } from './api/openapi.controller.js';
import { ReportsApiController } from './api/reports.controller.js';
import { ResourceServersApiController } from './api/resource-servers.controller.js';
import { UsersApiController } from './api/users.controller.js';
import { ApplicationsController } from './applications/applications.controller.js';
import { ConsentPreviewController } from './applications/consent-preview.controller.js';
import { CreateApplicationController } from './applications/create-application.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { AuditIndexTask } from './audit/audit-index.task.js';
import { LogoController } from './applications/logo.controller.js';
import { CLOCK, type Clock, ConsoleConfiguration } from './console.configuration.js';
import { ErrorFilter } from './error.filter.js';
import { EventsController } from './events/events.controller.js';
import { HealthController } from './health/health.controller.js';
import { HealthCheck } from './health/health-check.service.js';
import { KeysController } from './health/keys.controller.js';
import { HomeController } from './home.controller.js';
import { JobActions } from './jobs/job-actions.js';
import { JobRunner } from './jobs/job.runner.js';
import { JobStore } from './jobs/job.store.js';
import { JobsController } from './jobs/jobs.controller.js';
import { LoginController } from './login/login.controller.js';
import { OpenIdLogin } from './login/openid-login.service.js';
import { OperatorRoles } from './session/operator-roles.js';
import { PrivilegedAccounts } from './session/privileged-accounts.js';
import { Idempotency } from './requests/idempotency.service.js';
import { addRateLimits, RateLimits } from './requests/rate-limit.js';
import { RecentLogins } from './session/recent-logins.service.js';
import { OperatorGuard } from './session/operator.guard.js';
import { OperatorSessions, recognizeOperatorsWithoutRoute } from './session/operator-sessions.service.js';
import { ConsoleCookie, ConsoleDraftCookie, ConsoleLoginCookie } from './session/session.cookie.js';
import { SessionStore } from './session/session.store.js';
import { acceptUploads, parseConsoleForm, refuseNul } from './ui/form.js';
import { GrantsController } from './users/grants.controller.js';
import { UsersController } from './users/users.controller.js';
import { BRAND, IconController } from './ui/icon.controller.js';
import { PageInterceptor } from './ui/page.interceptor.js';
import { PageResponder } from './ui/page.responder.js';
import { CONSOLE_RULES } from './ui/stylesheet.js';

@Module({})
export class AppModule {
  static forRoot(configuration: ConsoleConfiguration, clock: Clock): DynamicModule {
    const scopes = readConfigurationFile(scopeFile(configuration, true));
    const database = DatabaseModule.forRoot({
      databaseUrl: configuration.DATABASE_URL,
      schema: configuration.DATABASE_SCHEMA,
      timeoutMs: configuration.dependencyTimeoutMs,
    });
    const providers: Provider[] = [
      { provide: ConsoleConfiguration, useValue: configuration },
      { provide: BRAND, useValue: readBrand(configuration, CONSOLE_RULES) },
      { provide: CLOCK, useValue: clock },
      { provide: ScopeCatalogue, useValue: scopes.value },
      ConsoleCookie,
      ConsoleLoginCookie,
      ConsoleDraftCookie,
      SessionStore,
      RecentLogins,
      PageResponder,
      Idempotency,
      RateLimits,
    ];
    return {
      module: AppModule,
      global: true,
      imports: [
        database,
        AdministrationModule.forRoot({ settings: configuration, scopes: () => scopes }, [database]),
        ConfigurationFilesModule.forRoot([scopes]),
        RedisModule.forRoot(configuration.REDIS_URL, configuration.dependencyTimeoutMs),
        AuditModule.forRoot({
          service: 'operator',
          natsUrl: configuration.auditUrl,
          clientAddress: configuration.AUDIT_CLIENT_ADDRESS,
        }),
        IntrospectionModule.forRoot({
          natsUrl: configuration.NATS_URL,
          name: 'console',
          timeoutMs: configuration.dependencyTimeoutMs,
          resourceUrl: configuration.CONSOLE_URL,
          clockSkew: configuration.CLOCK_SKEW,
        }),
      ],
      controllers: [
        HomeController,
        LoginController,
        IconController,
        // Before `applications/:id`.
        CreateApplicationController,
        ConsentPreviewController,
        LogoController,
        ApplicationsController,
        UsersController,
        GrantsController,
        JobsController,
        EventsController,
        AuditController,
        HealthController,
        KeysController,
        ClientsApiController,
        UsersApiController,
        GrantsApiController,
        ResourceServersApiController,
        ReportsApiController,
        OpenApiController,
      ],
      providers: [
        ...providers,
        OpenIdLogin,
        OperatorRoles,
        OperatorSessions,
        PrivilegedAccounts,
        JobActions,
        JobRunner,
        JobStore,
        AuditIndexTask,
        HealthCheck,
        { provide: APP_GUARD, useClass: OperatorGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_INTERCEPTOR, useClass: PageInterceptor },
      ],
      exports: providers,
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
    // Pages post forms, and the API reads only JSON, which a cross-site script can send only after a preflight.
    bodyParsers: {
      'application/x-www-form-urlencoded': parseConsoleForm,
      'application/json': parseApiBody,
      'application/merge-patch+json': parseApiBody,
    },
    // Unlike the login of users, no page of the console opens in the popup of an application.
    headers: { ...PAGE_HEADERS, 'Cross-Origin-Opener-Policy': 'same-origin' },
    configure: async (app) => {
      const fastify = app.getHttpAdapter().getInstance();
      acceptUploads(fastify);
      refuseNul(fastify);
      recognizeOperatorsWithoutRoute(app);
      await addRateLimits(app);
    },
  };
}
