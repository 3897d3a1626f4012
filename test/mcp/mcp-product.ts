import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#local/servers/free-port.js';
import { startGuarded } from '#local/servers/guarded-process.js';
import { runCommand } from '#local/servers/run-command.js';
import { isolatedEnvironment, type Run, StartedProduct } from '../end-to-end/started-product.js';
import { Browser } from '../support/browser.js';
import { until } from '../support/until.js';
import { type DocumentHost, startDocumentHost } from './document-host.js';

/** The service as docs/mcp.md starts it, and examples/mcp-server. */
export interface McpProduct {
  readonly run: Run;
  readonly serverUrl: string;
  readonly documents: DocumentHost;
  /** The user allows everything. @returns the redirect to the client */
  allow(authorizationUrl: URL, browser?: Browser): Promise<URL>;
  stop(): Promise<void>;
}

/** @param packages folder in which the packages of the example are installed */
export async function startMcpProduct(packages: string): Promise<McpProduct> {
  const place = await isolatedEnvironment();
  const folder = await mkdtemp(join(packages, 'mcp-server-'));
  const origin = `http://localhost:${await freePort()}`;
  const documents = await startDocumentHost(place.LOCAL_DIR);
  const env = {
    ...place,
    OTHER_API_URLS: origin,
    CLIENT_METADATA_HOSTS: documents.host,
    NODE_EXTRA_CA_CERTS: documents.certificateFile,
  };
  const service = new StartedProduct(env);
  const stops: (() => unknown)[] = [
    () => rm(place.LOCAL_DIR, { recursive: true, force: true }),
    () => rm(folder, { recursive: true, force: true }),
    () => documents.close(),
    () => service.kill('SIGTERM'),
  ];
  const stop = async () => {
    for (const end of stops.splice(0).toReversed()) await end();
  };
  try {
    const run = await service.ready();
    const operator = await runCommand(
      process.execPath,
      ['dist/apps/operator.cjs', 'resource-server', 'create', '--name', 'MCP server', '--json'],
      { cwd: process.cwd(), env: { ...process.env, ...env, DATABASE_URL: '', NATS_URL: '' } },
    );
    if (operator.code !== 0) throw new Error(operator.stderr);
    const account = JSON.parse(operator.stdout) as { id: string; secret: string };
    const serverUrl = `${origin}/mcp`;
    await cp('examples/mcp-server', folder, { recursive: true });
    let output = '';
    const server = startGuarded({
      name: 'the MCP server',
      command: process.execPath,
      args: ['server.js'],
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        ISSUER: run.base_url,
        RESOURCE_SERVER_ID: account.id,
        RESOURCE_SERVER_SECRET: account.secret,
        SERVER_URL: serverUrl,
      },
      logFile: join(folder, 'log'),
      onOutput: (text) => (output += text),
      signal: 'SIGTERM',
      grace: 5_000,
    });
    stops.push(() => server.stop());
    await until('the MCP server listens', 60_000, () => output.includes(serverUrl)).catch((error: Error) => {
      throw new Error(`${error.message}: ${output}`, { cause: error });
    });
    const allow = (url: URL, browser = new Browser('')) => browser.allow(url, run.user);
    return { run, serverUrl, documents, allow, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
