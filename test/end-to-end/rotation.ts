import { Client } from 'pg';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { isolate } from '../support/isolate.js';
import { until } from '../support/until.js';

/**
 * Value of NODE_OPTIONS. Sets the start of a process to six minutes ago, so that a test does not have to wait until
 * applications have fetched its keys.
 */
export const STARTED_BEFORE = `--import=data:text/javascript,Object.defineProperty(performance,'timeOrigin',{value:performance.timeOrigin-360_000})`;

export type RotatedApp = 'authorize' | 'token';
export type Rotation = Awaited<ReturnType<typeof openRotation>>;

/**
 * Opens load balancers for authorize and token. `replace` starts a process with other keys under load.
 * @param settings variables of every process
 */
export async function openRotation(settings: Record<string, string> = {}) {
  const services = await isolate();
  const database = new Client({ connectionString: services.databaseUrl });
  await database.connect();
  const [authorize, token] = await Promise.all([
    FaultProxy.start('http://localhost'),
    FaultProxy.start('http://localhost'),
  ]);
  const balancers: Record<RotatedApp, FaultProxy> = { authorize, token };
  const running: Record<RotatedApp, AppProcess[]> = { authorize: [], token: [] };
  const env = {
    AUTH_URL: new URL(authorize.url).origin,
    BASE_URL: new URL(token.url).origin,
    API_URL: 'http://localhost:1',
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    NATS_URL: services.natsUrl,
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const keysNext = (present: string, ...args: string[]) =>
    runOperator(['keys', 'next', '--stdin', '--json', ...args], env, present);

  return {
    env,
    database,
    keysNext,

    /** Starts a process, to which the load balancer switches before the old process gets SIGTERM. */
    async replace(name: RotatedApp, at: number, keys: Record<string, string>): Promise<void> {
      const fresh = await startApp(name, { ...env, ...keys });
      const old = running[name][at];
      running[name][at] = fresh;
      balancers[name].targets = running[name].map(({ url }) => url) as [string, ...string[]];
      await old?.stop();
    },

    /** Waits until all processes have recorded their keys. @returns the output of `keys next` */
    async nextStep<Step>(present: string, ...args: string[]): Promise<Step> {
      let printed = '';
      await until('keys next prints the step', 60_000, async () => {
        const { code, stdout } = await keysNext(present, ...args);
        printed = stdout;
        return code === 0;
      });
      return JSON.parse(printed) as Step;
    },

    async close(): Promise<void> {
      await Promise.all(Object.values(running).flatMap((apps) => apps.map((app) => app.stop())));
      for (const balancer of Object.values(balancers)) await balancer.close();
      await database.end();
      await services.close();
    },
  };
}
