import { createService, type Service } from '#platform/bootstrap/service.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import type { AppName } from './app-process.js';
import { PATIENT_ENVIRONMENT } from './app-settings.js';
import { withCredentials } from './process-credentials.js';

export interface AppInProcess {
  readonly name: AppName;
  readonly url: string;
  stop(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

// Imported on demand, because few suites need every app.
const SERVICES: Readonly<Record<AppName, (env: Environment) => Promise<Service>>> = {
  async authorize(env) {
    const { AuthorizeConfiguration } =
      await import('../../apps/authorize/src/configuration/authorize.configuration.js');
    const { authorizeApp } = await import('../../apps/authorize/src/app.module.js');
    return authorizeApp(
      loadConfiguration(AuthorizeConfiguration, env, [({ brand }) => brand, ({ scopes }) => scopes]),
    );
  },
  async token(env) {
    const { TokenConfiguration } = await import('../../apps/token/src/token.configuration.js');
    const { tokenApp } = await import('../../apps/token/src/app.module.js');
    return tokenApp(loadConfiguration(TokenConfiguration, env, [({ scopes }) => scopes]));
  },
  async resource(env) {
    const { ResourceConfiguration } = await import('../../apps/resource/src/resource.configuration.js');
    const { resourceApp } = await import('../../apps/resource/src/app.module.js');
    return resourceApp(loadConfiguration(ResourceConfiguration, env, [({ scopes }) => scopes]));
  },
};

/**
 * Starts an app in this process, which takes a fifth of the CPU time of `startApp`. The app has no internal port and
 * handles no signals. A process can have one resource app, because passport's strategies are global.
 * @param port a free port by default
 */
export async function startAppInProcess(name: AppName, env: Environment, port = 0): Promise<AppInProcess> {
  const settings = { ...PATIENT_ENVIRONMENT, ...withCredentials(name, env), LOG_LEVEL: 'fatal' };
  const app = await createService(await SERVICES[name](settings));
  await app.startAllMicroservices();
  await app.listen(port, '127.0.0.1');
  return { name, url: await app.getUrl(), stop: () => app.close() };
}
