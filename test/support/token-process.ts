import { randomBytes } from 'node:crypto';
import { startApp } from './app-process.js';
import { appSettings } from './app-settings.js';
import { openFixture } from './fixture.js';
import { isolate } from './isolate.js';

export async function startTokenProcess() {
  const services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  const app = await startApp('token', {
    ...appSettings(services),
    LOG_LEVEL: 'fatal',
    // The maximum, so that retries on a slow machine are not rejected.
    RETRY_WINDOW: '3600',
    TOKEN_KEYS,
  });
  const fixture = await openFixture(services, TOKEN_KEYS);
  return {
    ...fixture,
    ...app,
    natsUrl: services.natsUrl,
    ours: await fixture.client(),
    userId: await fixture.user(),

    async close(): Promise<void> {
      await app.stop();
      await fixture.close();
      await services.close();
    },
  };
}

export type TokenProcess = Awaited<ReturnType<typeof startTokenProcess>>;
