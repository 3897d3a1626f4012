import { PAGE_HEADERS } from '#ui/html.js';
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { Service } from '#platform/bootstrap/service.js';
import type { Clock } from '#platform/clock.js';
import { ApiModule } from './api/api.module.js';
import { parseApiBody } from './api/request-input.js';
import { ApplicationsModule } from './applications/applications.module.js';
import { AuditPagesModule } from './audit/audit-pages.module.js';
import { BackgroundTasks } from './background-tasks.js';
import type { ConsoleConfiguration } from './console.configuration.js';
import { CoreModule } from './core.module.js';
import { ErrorFilter } from './error.filter.js';
import { EventsModule } from './events/events.module.js';
import { HealthModule } from './health/health.module.js';
import { IconController } from './icon.controller.js';
import { JobsModule } from './jobs/jobs.module.js';
import { LoginModule } from './login/login.module.js';
import { OperatorsModule } from './operators/operators.module.js';
import { OverviewModule } from './overview/overview.module.js';
import { addRateLimits } from './request-limits/rate-limit.js';
import { RequestLimitsModule } from './request-limits/request-limits.module.js';
import { FormInterceptor } from './session/form.interceptor.js';
import { OperatorGuard } from './session/operator.guard.js';
import { recognizeOperatorsWithoutRoute } from './session/operator-sessions.service.js';
import { SessionModule } from './session/session.module.js';
import { acceptImages, acceptUploads, parseConsoleForm, refuseNul } from './form.js';
import { CopyScriptController } from './copy-script.controller.js';
import { PageInterceptor } from './ui/page.interceptor.js';
import { UiModule } from './ui/ui.module.js';
import { UsersModule } from './users/users.module.js';

@Module({})
export class AppModule {
  static forRoot(configuration: ConsoleConfiguration, clock: Clock): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(configuration, clock),
        RequestLimitsModule,
        SessionModule,
        UiModule,
        LoginModule,
        ApplicationsModule,
        UsersModule,
        OperatorsModule,
        JobsModule,
        OverviewModule,
        EventsModule,
        AuditPagesModule,
        HealthModule,
        ApiModule,
      ],
      controllers: [IconController, CopyScriptController],
      providers: [
        BackgroundTasks,
        { provide: APP_GUARD, useClass: OperatorGuard },
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
      'application/x-www-form-urlencoded': parseConsoleForm,
      'application/json': parseApiBody,
      'application/merge-patch+json': parseApiBody,
    },
    // Unlike the login page of users, no page of the console opens in a popup of an application.
    headers: { ...PAGE_HEADERS, 'Cross-Origin-Opener-Policy': 'same-origin' },
    configure: async (app) => {
      const fastify = app.getHttpAdapter().getInstance();
      acceptUploads(fastify);
      acceptImages(fastify);
      refuseNul(fastify);
      recognizeOperatorsWithoutRoute(app);
      await addRateLimits(app);
    },
  };
}
