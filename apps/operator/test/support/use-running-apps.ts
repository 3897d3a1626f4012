import { randomBytes } from 'node:crypto';
import { type AppName, type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { started } from '#test/support/started.js';

/** Starts processes of the product for a suite. */
export function useRunningApps(names: readonly AppName[], settings: Readonly<Record<string, string>> = {}) {
  const env = started() as Record<string, string> & { NATS_URL: string };
  const urls = started() as Record<AppName, string>;
  const fixture = started() as Fixture;
  let services: Isolated;
  let apps: readonly AppProcess[] = [];

  beforeAll(async () => {
    services = await isolate();
    Object.assign(env, appSettings(services), { API_URL: 'https://api.example.com' });
    const TOKEN_KEYS = randomBytes(32).toString('base64url');
    const shared = { ...env, LOG_LEVEL: 'warn', TOKEN_KEYS, ...settings };
    apps = await Promise.all(names.map((name) => startApp(name, shared)));
    for (const { name, url } of apps) Object.assign(urls, { [name]: url });
    Object.assign(fixture, await openFixture(services, TOKEN_KEYS));
  });

  afterAll(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await fixture.close();
    await services.close();
  });

  return { env, urls, fixture };
}
