import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { freePort } from '../servers/free-port.js';
import { isolatedEnvironment, StartedProduct } from '#test/end-to-end/started-product.js';

describe('npm start with wrong settings', () => {
  const places: string[] = [];
  let taken: Server;
  let takenPort: string;
  let redisHost: string;
  let resourcePort: string;
  let refused: Record<'taken' | 'unreachable' | 'wrong', StartedProduct>;

  /** Starts the product in a separate folder, whose lock no other product holds. */
  async function start(
    settings: (place: Record<string, string>) => Record<string, string>,
    ...args: string[]
  ): Promise<StartedProduct> {
    const place = await isolatedEnvironment();
    places.push(place.LOCAL_DIR);
    return new StartedProduct({ ...place, ...settings(place) }, { flags: args });
  }

  beforeAll(async () => {
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    takenPort = String((taken.address() as AddressInfo).port);
    redisHost = `127.0.0.1:${await freePort()}`;
    refused = {
      taken: await start(() => ({ TOKEN_PORT: takenPort })),
      unreachable: await start(() => ({ REDIS_URL: `redis://default:hidden@${redisHost}` })),
      wrong: await start(({ RESOURCE_PORT = '' }) => {
        resourcePort = RESOURCE_PORT;
        return { TOKEN_PORT: 'http', DEMO_PORT: resourcePort, DATABASE_SCHEMA: 'a b' };
      }, '--sed'),
    };
  });

  afterAll(async () => {
    taken.close();
    await Promise.all(Object.values(refused).map((product) => product.kill('SIGKILL')));
    await Promise.all(places.map((place) => rm(place, { recursive: true, force: true })));
  });

  it('names a port in use and its variable before it starts anything', async () => {
    const { taken: product } = refused;
    expect(await product.exit).toBe(1);
    expect(product.output).toContain(`port ${takenPort} is in use: set TOKEN_PORT`);
    expect(product.output).not.toContain('starting PostgreSQL');
  });

  // The start waits 3 s. An endless retry would exceed the test's timeout.
  it('reports an unreachable server in one line', async () => {
    const { unreachable: product } = refused;
    expect(await product.exit).toBe(1);
    expect(product.output).toContain(`npm start: REDIS_URL: nothing accepts connections at ${redisHost}\n`);
    expect(product.output).not.toMatch(/starting PostgreSQL|hidden|"level"/);
  });

  it('lists all invalid ports, schemas and arguments', async () => {
    const { wrong: product } = refused;
    expect(await product.exit).toBe(1);
    expect(product.output).toContain('TOKEN_PORT must be a port');
    expect(product.output).toContain(`RESOURCE_PORT and DEMO_PORT are both ${resourcePort}`);
    expect(product.output).toContain('DATABASE_SCHEMA must be a schema name');
    expect(product.output).toContain('unknown argument "--sed": npm start takes only --seed');
  });
});
