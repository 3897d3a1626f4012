import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';
import { findTool } from '../support/tool.js';
import { CalledRecipe, commandsOfFlow, RecipeFolder, RecipeProduct, type Tokens } from '../recipes/recipe.js';

const OPENID_CLIENT = { source: 'recipes/openid-client.mjs', file: 'recipe.mjs' };
const DESKTOP = { source: 'recipes/desktop.mjs', file: 'recipe.mjs' };
const ONE_WRITER = { source: 'recipes/one-writer.mjs', file: 'tokens.mjs' };

let product: RecipeProduct;

beforeAll(async () => {
  product = await RecipeProduct.start();
});

afterAll(() => product.close());

it('the requests in docs/integrate.md work as printed', async () => {
  const { command, libraryPath } = await findTool('openssl');
  const env = {
    ...product.environment(await product.register()),
    PATH: `${dirname(command)}:${process.env['PATH']}`,
    ...(libraryPath && { LD_LIBRARY_PATH: libraryPath }),
  };
  const run = async (commands = '', variables = {}): Promise<string> =>
    (await promisify(execFile)('sh', ['-euc', commands], { env: { ...env, ...variables } })).stdout;
  const parsed = async (...args: Parameters<typeof run>) =>
    JSON.parse(await run(...args)) as Record<string, unknown>;
  const [start, exchange, me, refresh, revoke, ...more] = await commandsOfFlow();
  expect(more).toEqual([]);

  const [url = '', VERIFIER] = (await run(`${start}\necho "$VERIFIER"`)).split('\n');
  const CODE = (await product.allow(url)).searchParams.get('code');
  const tokens = await parsed(exchange, { CODE, VERIFIER });
  expect(tokens).toMatchObject({ scope: 'profile:read', token_type: 'Bearer' });
  expect(await parsed(me, { ACCESS_TOKEN: tokens['access_token'] })).toMatchObject({
    data: { email: product.email },
  });
  const renewed = await parsed(refresh, { REFRESH_TOKEN: tokens['refresh_token'] });
  const REFRESH_TOKEN = renewed['refresh_token'];
  expect(await run(revoke, { REFRESH_TOKEN })).toBe('{}');
  expect(await parsed(refresh, { REFRESH_TOKEN })).toMatchObject({ error: 'invalid_grant' });
});

it('the recipe for desktop applications connects a public client with an unregistered loopback port', async () => {
  const folder = await RecipeFolder.create(DESKTOP);
  const env = product.environment(await product.register('public', 'http://127.0.0.1/callback'));
  const application = spawn(process.execPath, [DESKTOP.file], {
    cwd: folder.path,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(application.stdout)[Symbol.asyncIterator]();
  const address = String((await lines.next()).value).replace(/^.*: /, '');
  const callback = await product.allow(address);
  expect(callback.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(callback)).status).toBe(200);
  expect((await lines.next()).value).toBe(`Connected as ${product.email}`);
  expect(await once(application, 'exit')).toEqual([0, null]);
  await folder.remove();
});

describe('the recipe One writer', () => {
  let folder: RecipeFolder;
  let library: CalledRecipe;
  let workers: [CalledRecipe, CalledRecipe];
  let database: pg.Client;

  beforeAll(async () => {
    folder = await RecipeFolder.create(OPENID_CLIENT, { driver: 'driver.mjs' });
    const code = await folder.add(ONE_WRITER);
    const settings = { ...(await product.register()), DATABASE_URL: product.databaseUrl };
    const env = product.environment(settings);
    const start = (module: string) =>
      new CalledRecipe(folder.path, [process.execPath, 'driver.mjs', module], env);
    library = start('./recipe.mjs');
    workers = [start('./tokens.mjs'), start('./tokens.mjs')];
    database = new pg.Client({ connectionString: product.databaseUrl });
    await database.connect();
    await database.query(/CREATE TABLE connections .*/.exec(code)?.[0] ?? '');
    await database.query('CREATE TABLE updates (id serial)');
    await database.query(
      'CREATE RULE counted AS ON UPDATE TO connections DO ALSO INSERT INTO updates DEFAULT VALUES',
    );
  });

  afterAll(async () => {
    await Promise.all([...workers, library].map((worker) => worker.end()));
    await database.end();
    await folder.remove();
  });

  async function store(userId: number): Promise<Tokens> {
    const [url, session] = await library.start();
    const tokens = await library.finish(await product.allow(url), session);
    await database.query('INSERT INTO connections VALUES ($1, $2, now())', [userId, tokens]);
    return tokens;
  }

  it('refreshes once for all workers, and stores the access token until it expires', async () => {
    const tokens = await store(1);
    const got = await Promise.all(
      [...workers, ...workers, ...workers].map((worker) => worker.accessToken(1)),
    );
    expect(new Set(got).size).toBe(1);
    expect(got[0]).not.toBe(tokens['access_token']);
    expect(await workers[0].accessToken(1)).toBe(got[0]);
    expect((await database.query('SELECT FROM updates')).rowCount).toBe(1);
  });

  it('gets the tokens of a lost response when it repeats the refresh', async () => {
    const lost = await library.refresh(await store(2));
    expect(await workers[0].accessToken(2)).toBe(lost['access_token']);
  });

  it('deletes the tokens when the access has ended', async () => {
    await library.disconnect(await store(3));
    expect(await workers[0].accessToken(3)).toBeUndefined();
    expect((await database.query('SELECT FROM connections WHERE user_id = 3')).rowCount).toBe(0);
  });
});
