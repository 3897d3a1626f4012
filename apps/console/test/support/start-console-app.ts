import type { Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import type { JWTPayload } from 'jose';
import type { Response } from 'supertest';
import { DataSource } from 'typeorm';
import { DatabaseModule } from '#database/database.module.js';
import { UserStore } from '#users/user.store.js';
import { freePort } from '#local/servers/free-port.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { CSRF_FIELD, csrfToken } from '#ui/browser-cookie.js';
import { createService } from '#platform/bootstrap/service.js';
import { PATIENT, PATIENT_MS } from '#test/support/app-settings.js';
import { Browser } from '#test/support/browser.js';
import { FORGER_CLIENT, startForgingProvider } from '#test/support/forging-provider.js';
import { checkingAnswers } from '#test/support/openapi/check-answers.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { consoleApp } from '../../src/app.module.js';
import { ConsoleConfiguration } from '../../src/console.configuration.js';
import { FORM_ID } from '../../src/form.js';
import type { OperatorRequest } from '../../src/operator.js';
import type { Role } from '../../src/role.js';
import { newFormId } from '../../src/ui/form-id.js';
import { OperatorSessionsService } from '../../src/session/operator-sessions.service.js';

const CONSOLE_URL = 'http://localhost:3004';

/** Starts a console with a login provider that sends roles as groups. @param given services to share with other apps */
export async function startConsoleApp(settings: Partial<ConsoleConfiguration> = {}, given?: Isolated) {
  const services = given ?? (await isolate());
  const provider = await startForgingProvider(await freePort());
  const database = await NestFactory.createApplicationContext(
    DatabaseModule.forRoot({ databaseUrl: services.databaseUrl, timeoutMs: PATIENT_MS }),
    { logger: false },
  );
  const configuration = Object.assign(new ConsoleConfiguration(), {
    CONSOLE_URL,
    AUTH_URL: 'http://localhost:3001',
    BASE_URL: 'http://localhost:3002',
    API_URL: 'http://localhost:3003',
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    CONSOLE_ISSUER: provider.issuer,
    CONSOLE_CLIENT_ID: FORGER_CLIENT.id,
    CONSOLE_CLIENT_SECRET: FORGER_CLIENT.secret,
    CONSOLE_GROUPS_CLAIM: 'groups',
    CONSOLE_ROLES: 'viewers=viewer,helpers=support,admins=admin',
    LOG_LEVEL: 'silent',
    ...PATIENT,
    ...settings,
  });
  /** Milliseconds by which the clock of the app is ahead. */
  const clock = { ahead: 0 };
  const service = checkingAnswers(consoleApp(configuration, () => Date.now() + clock.ahead));
  const app = await createService(service);
  await app.listen(settings.PORT ?? 0, '127.0.0.1');
  const redis = new Redis(services.redisUrl);
  const now = () => Math.floor((Date.now() + clock.ahead) / 1000);
  const GROUPS: Record<Role, string> = { viewer: 'viewers', support: 'helpers', admin: 'admins' };

  return {
    configuration,
    services,
    provider,
    redis,
    clock,
    users: database.get(UserStore),
    sql: <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
      database.get(DataSource).query<Row[]>(text, values),
    server: app.getHttpServer(),
    metrics: app.get(Metrics, { strict: false }).registry,
    controllers: [...app.get(ModulesContainer).values()].flatMap(({ controllers }) =>
      [...controllers.values()].map(({ metatype }) => metatype as Type),
    ),
    browser: (): Browser => new Browser(app.getHttpServer()),

    /** Logs in, by default with a current `auth_time`. @returns the response of the login callback */
    async logIn(browser: Browser, claims: JWTPayload, page = '/') {
      const login = `/login?page=${encodeURIComponent(page)}`;
      return provider.logIn(
        browser,
        { claims: { auth_time: now(), preferred_username: 'ada', ...claims } },
        login,
      );
    },

    /** Returns a browser in which an operator with this role is logged in. */
    async operator(role: Role, name = 'ada'): Promise<Browser> {
      const browser = new Browser(app.getHttpServer());
      await this.logIn(browser, { groups: [GROUPS[role]], preferred_username: name });
      return browser;
    },

    /** Posts a form with a valid CSRF token, even if no page shows the form. */
    async postForm(browser: Browser, path: string, fields: Record<string, string> = {}): Promise<Response> {
      const request = { headers: { cookie: browser.cookies.header() } } as OperatorRequest;
      const account = await app.get(OperatorSessionsService, { strict: false }).use(request);
      const token = csrfToken(account?.formKey ?? '', path);
      return browser.post(path, {
        ...fields,
        [CSRF_FIELD]: token,
        [FORM_ID]: newFormId(account?.formIdKey ?? ''),
      });
    },

    async resetRateLimits(): Promise<void> {
      await redis.del('none', ...(await redis.keys('console:rate:*')));
    },

    async close(): Promise<void> {
      await app.close();
      service.report.throwProblems();
      await database.close();
      redis.disconnect();
      await provider.close();
      if (!given) await services.close();
    },
  };
}

export type ConsoleApp = Awaited<ReturnType<typeof startConsoleApp>>;
