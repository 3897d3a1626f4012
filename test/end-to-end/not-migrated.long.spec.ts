import { randomBytes } from 'node:crypto';
import { databaseDataSource } from '#database/data-source.js';
import { migrate } from '#database/migrate.js';
import { withDatabase } from '../support/test-database.js';
import { isolate, type Isolated } from '../support/isolate.js';
import { until } from '../support/until.js';
import { type AppName, type AppProcess, launchApp } from '../support/app-process.js';

const APPS = ['authorize', 'token'] as const;

describe('the apps', () => {
  let services: Isolated;
  let apps: AppProcess[];

  beforeEach(async () => {
    services = await isolate();
    apps = [];
  });
  afterEach(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await services.close();
  });

  const launch = (name: AppName): Promise<AppProcess> =>
    launchApp(name, {
      AUTH_URL: 'http://auth.localhost',
      BASE_URL: 'http://base.localhost',
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      NATS_URL: services.natsUrl,
      TOKEN_KEYS: randomBytes(32).toString('base64url'),
    });
  const start = async (): Promise<void> => void apps.push(...(await Promise.all(APPS.map(launch))));
  const miss = (...names: string[]): Promise<void> =>
    until(`all miss ${names.join() || 'nothing'}`, 60_000, async () => {
      const missing = await Promise.all(apps.map((app) => app.missing()));
      return missing.every((each) => JSON.stringify(each) === JSON.stringify(names));
    });

  it('are not ready until a missing migration is applied, and log its name', async () => {
    const dataSource = await databaseDataSource(services.databaseUrl).initialize();
    const last = dataSource.migrations.at(-1)?.constructor.name;
    await dataSource.undoLastMigration();
    await dataSource.destroy();
    await start();
    await miss('migrations');
    const message = new RegExp(`the database is not at this version, run \\S+migrate\\S+: it lacks ${last}`);
    await until('all logged it', 60_000, async () => apps.every((app) => message.test(app.output())));
    await migrate(services.databaseUrl);
    await miss();
  });

  it('are not ready on an empty database until it is migrated', async () => {
    await withDatabase(services.databaseUrl, (admin) =>
      admin.query('DROP SCHEMA oauth CASCADE; CREATE SCHEMA oauth'),
    );
    await start();
    await miss('migrations');
    await migrate(services.databaseUrl);
    await miss();
  });

  it('are ready on a schema that a newer version has migrated', async () => {
    await withDatabase(services.databaseUrl, (admin) =>
      admin.query(`INSERT INTO migrations (timestamp, name) VALUES (9000000000000, 'Later9000000000000')`),
    );
    await start();
    await miss();
  });
});
