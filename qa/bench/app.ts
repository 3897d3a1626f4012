import { resolve } from 'node:path';
import { type AppName, launchApp } from '#test/support/launch-app.js';

/** One copy of an app, as it is deployed. */
export interface App {
  readonly name: AppName;
  readonly internalUrl: string;
  stop(): Promise<void>;
}

/** Starts an app. Its log goes to a file, as a container's does: what it costs to write it is part of the figures. */
export async function startApp(
  name: AppName,
  port: number,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<App> {
  const app = await launchApp({ name, port, env, logFile: resolve(folder, `${name}.log`) });
  await app.ready();
  return { name, internalUrl: app.internalUrl, stop: () => app.process.stop() };
}
