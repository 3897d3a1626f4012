import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { freePort } from '#local/servers/free-port.js';
import { runCommand } from '#local/servers/run-command.js';
import { startProgram } from '../support/program.js';
import { isolatedEnvironment, type Run, StartedProduct } from '../end-to-end/started-product.js';

const FOLDER = 'examples/product';
/** Default ports of the site, the notes API and the bookings API. */
const PORTS = [3020, 3021, 3022] as const;

export interface ExampleProduct {
  readonly run: Run;
  readonly siteUrl: string;
  readonly notesUrl: string;
  readonly bookingsUrl: string;
  operator<Printed>(...args: readonly string[]): Promise<Printed>;
  stop(): Promise<void>;
}

/**
 * Starts the service and the example as in docs/adopt.md.
 * @param bookingsApi compiled main file of the bookings API
 */
export async function startExampleProduct(bookingsApi: string): Promise<ExampleProduct> {
  const place = await isolatedEnvironment();
  const ports = await Promise.all(PORTS.map(freePort));
  const onOurPorts = (text: string) =>
    PORTS.reduce((changed, port, index) => changed.replaceAll(`:${port}`, `:${ports[index]}`), text);
  const scopes = join(place.LOCAL_DIR, 'scopes.yaml');
  await writeFile(scopes, onOurPorts(await readFile(`${FOLDER}/scopes.yaml`, 'utf8')));
  const settings = parseEnv(onOurPorts(await readFile(`${FOLDER}/service.env`, 'utf8')));
  const env = { ...(settings as Record<string, string>), ...place, SCOPES_FILE: scopes };
  const urls = ports.map((port) => `http://localhost:${port}`) as [string, string, string];
  const service = new StartedProduct(env);
  const stops = [() => service.kill('SIGTERM').then(() => undefined)];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
    await rm(place.LOCAL_DIR, { recursive: true, force: true });
  };
  try {
    return { ...(await start(service, env, urls, bookingsApi, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param stops receives functions that stop the started processes and servers */
async function start(
  service: StartedProduct,
  env: Record<string, string>,
  siteUrls: readonly [string, string, string],
  bookingsApi: string,
  stops: (() => Promise<void>)[],
): Promise<Omit<ExampleProduct, 'stop'>> {
  const [siteUrl, notesUrl, bookingsUrl] = siteUrls;
  const run = await service.ready();

  const command = async (script: string): Promise<string> => {
    const variables = { ...process.env, ...env, DATABASE_URL: '', NATS_URL: '' };
    const { code, stdout, stderr } = await runCommand('/bin/sh', ['-ec', script], {
      cwd: process.cwd(),
      env: variables,
    });
    if (code !== 0) throw new Error(`${script}: ${stdout}${stderr}`);
    return stdout;
  };
  const operator = async <Printed>(...args: readonly string[]): Promise<Printed> =>
    JSON.parse(
      await command(`node dist/apps/operator.cjs ${args.map((arg) => `'${arg}'`).join(' ')} --json`),
    ) as Printed;

  const account = await operator<{ id: string; secret: string; introspection_url: string }>(
    'resource-server',
    'create',
    '--name',
    'Notes API',
  );
  await command(
    `node ${FOLDER}/export-users.js | node dist/apps/operator.cjs user import - --issuer ${siteUrl}`,
  );
  const example = await startProgram('the example product', [process.execPath, `${FOLDER}/start.js`], {
    cwd: process.cwd(),
    env: {
      PATH: process.env['PATH'],
      AUTH_URL: run.auth_url,
      INTROSPECTION_URL: account.introspection_url,
      RESOURCE_SERVER_ID: account.id,
      RESOURCE_SERVER_SECRET: account.secret,
      NATS_URL: run.nats_url,
      SITE_URL: siteUrl,
      NOTES_URL: notesUrl,
      BOOKINGS_URL: bookingsUrl,
      BOOKINGS_API: bookingsApi,
    },
    urls: [`${siteUrl}/login`, `${notesUrl}/notes`, `${bookingsUrl}/readyz`],
  });
  stops.push(() => example.stop());
  return { run, siteUrl, notesUrl, bookingsUrl, operator };
}
