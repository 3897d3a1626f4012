import { rm } from 'node:fs/promises';
import { emptyDatabase, withDatabase } from '#test/support/test-database.js';
import { testServices } from '#test/support/test-services.js';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { runDemo } from '../demo/run-demo.js';
import { readRunFile } from '../demo/run-script.js';
import { Transcript } from '../demo/transcript.js';
import { isolatedEnvironment, StartedProduct } from '#test/end-to-end/started-product.js';

// The order matters: each test continues with the database of the previous one.
describe('npm start with the database of another application', () => {
  let place: Record<string, string>;
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let product: StartedProduct;

  beforeAll(async () => {
    database = await emptyDatabase(testServices());
    await withDatabase(database.url, (admin) => admin.query('CREATE TABLE users (id serial, login text)'));
    place = { ...(await isolatedEnvironment()), DATABASE_URL: database.url };
  });

  afterAll(async () => {
    await product.kill('SIGINT');
    await rm(place['LOCAL_DIR'] ?? '', { recursive: true, force: true });
    await database.drop();
  });

  const start = (env: Record<string, string>, ...args: string[]): StartedProduct =>
    (product = new StartedProduct({ ...place, ...env }, { flags: args }));

  const tables = (): Promise<string[]> =>
    withDatabase(database.url, async (admin) => {
      const { rows } = await admin.query<{ name: string }>(
        `SELECT schemaname || '.' || tablename AS name FROM pg_tables
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
      );
      return rows.map(({ name }) => name);
    });

  it('reports what the database lacks and writes nothing without --seed', async () => {
    expect(await start({}).exit).toBe(1);
    const { host, pathname } = new URL(database.url);
    const [, lacks = ''] = product.output.split(
      `npm start: the database ${host}${pathname}, schema oauth lacks `,
    );
    expect(lacks).toMatch(
      /^\d+ migrations, the demo application, the demo user\.\n.*npm start -- --seed\nOr unset/,
    );
    expect(await tables()).toEqual(['public.users']);
  });

  it('never uses the tables of another application', async () => {
    expect(await start({ DATABASE_SCHEMA: 'public' }, '--seed').exit).toBe(1);
    expect(product.output).toMatch(/tables of another application \(users\).*DATABASE_SCHEMA/);
    expect(await tables()).toEqual(['public.users']);
  });

  it('runs the demo in a separate schema of that database', async () => {
    start({}, '--seed');
    await product.ready();
    expect(product.output).toContain(`${new URL(database.url).pathname}, schema oauth\n`);
    const shown: string[] = [];
    await runDemo(await readRunFile(place), new Transcript((line) => shown.push(line)));
    expect(shown).toContain('✓ Every step succeeded.');
    expect((await tables()).filter((name) => name.startsWith('public.'))).toEqual(['public.users']);
  });

  it('makes the operator use its schema regardless of DATABASE_SCHEMA', async () => {
    const LOCAL_DIR = place['LOCAL_DIR'];
    const { code, stdout } = await runOperator(['client', 'list'], {
      LOCAL_DIR,
      DATABASE_SCHEMA: 'another',
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Calendar Connect') });
    const env = { DATABASE_URL: database.url };
    const migrated = await runOperator(['migrate'], env);
    expect(migrated).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to apply') });
    await product.kill('SIGINT');
  });

  it('starts without --seed when nothing has to be written', async () => {
    start({});
    await product.ready();
    expect(product.output).not.toContain('migrating');
  });
});
