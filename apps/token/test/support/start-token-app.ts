import { randomBytes } from 'node:crypto';
import { NatsConnection } from '#messaging/nats.connection.js';
import { createService } from '#platform/bootstrap/service.js';
import { appSettings, PATIENT } from '#test/support/app-settings.js';
import { openFixture } from '#test/support/fixture.js';
import { checkingAnswers } from '#test/support/openapi/answer-checker.js';
import { withCredentials } from '#test/support/process-credentials.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { tokenApp } from '../../src/app.module.js';
import { lifetimesOf, TokenConfiguration } from '../../src/token.configuration.js';
import { UsageRecorder } from '../../src/usage/usage-recorder.js';

export async function startTokenApp(
  settings: Partial<TokenConfiguration> | ((services: Isolated) => Promise<Partial<TokenConfiguration>>) = {},
  given?: Isolated,
) {
  const services = given ?? (await isolate());
  const configuration = Object.assign(
    new TokenConfiguration(),
    withCredentials('token', {
      ...appSettings(services),
      TOKEN_KEYS: randomBytes(32).toString('base64url'),
      LOG_LEVEL: 'silent',
      ...PATIENT,
      // The maximum, so that codes do not expire on a slow machine.
      CODE_LIFETIME: 600,
      ...(typeof settings === 'function' ? await settings(services) : settings),
    }),
  );
  const service = checkingAnswers(tokenApp(configuration));
  const app = await createService(service);
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  const fixture = await openFixture(services, configuration.TOKEN_KEYS, lifetimesOf(configuration));

  return {
    ...fixture,
    natsUrl: services.natsUrl,
    configuration,
    server: app.getHttpServer(),
    url: await app.getUrl(),

    writeUses: () => app.get(UsageRecorder).flush(),

    /** Resolves when all published messages have arrived at the app and at the fixture. */
    async settled(): Promise<void> {
      await fixture.settled();
      await app.get(NatsConnection).ping();
      await fixture.settled();
    },

    async close(): Promise<void> {
      await app.close();
      await fixture.close();
      if (!given) await services.close();
      service.report.throwProblems();
    },
  };
}

export type TokenApp = Awaited<ReturnType<typeof startTokenApp>>;
