import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { createCertificate } from '../support/certificate.js';
import { freePort } from '#local/servers/free-port.js';
import { isolatedEnvironment, type Run, StartedProduct } from '../end-to-end/started-product.js';
import { Browser } from '../support/browser.js';
import { NODE_ARGUMENTS } from '../support/built.js';
import { startProgram } from '../support/program.js';

/** An https host for metadata documents. Processes must have its certificate in `NODE_EXTRA_CA_CERTS`. */
interface DocumentHost {
  readonly host: string;
  readonly certificateFile: string;
  /** @returns the client_id */
  publish(name: string, redirectUri: string): string;
  close(): void;
}

async function startDocumentHost(folder: string): Promise<DocumentHost> {
  const { key, cert, file: certificateFile } = await createCertificate(folder);
  const documents = new Map<string, object>();
  const server = createServer({ key, cert }, ({ url = '' }, response) => {
    const found = documents.get(url);
    if (found) response.setHeader('Content-Type', 'application/json').end(JSON.stringify(found));
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  return {
    host,
    certificateFile,
    publish(name, redirectUri) {
      const path = `/${name}.json`;
      const client_id = `https://${host}${path}`;
      documents.set(path, {
        client_id,
        client_name: name,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      });
      return client_id;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export interface McpProduct {
  readonly run: Run;
  readonly serverUrl: string;
  readonly documents: DocumentHost;
  /** @returns the redirect to the client after the user's consent */
  allow(authorizationUrl: URL, browser?: Browser): Promise<URL>;
  stop(): Promise<void>;
}

/** @param packages folder with the installed packages of the example server */
export async function startMcpProduct(packages: string): Promise<McpProduct> {
  const place = await isolatedEnvironment();
  const folder = await mkdtemp(join(packages, 'mcp-server-'));
  const origin = `http://localhost:${await freePort()}`;
  const documents = await startDocumentHost(place.LOCAL_DIR);
  const settings = {
    ...place,
    OTHER_API_URLS: origin,
    CLIENT_METADATA_HOSTS: documents.host,
    NODE_EXTRA_CA_CERTS: documents.certificateFile,
  };
  const service = new StartedProduct(settings);
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
      [
        ...NODE_ARGUMENTS,
        'dist/apps/operator.cjs',
        'resource-server',
        'create',
        '--name',
        'MCP server',
        '--json',
      ],
      { cwd: process.cwd(), env: { ...process.env, ...settings, DATABASE_URL: '', NATS_URL: '' } },
    );
    if (operator.code !== 0) throw new Error(operator.stderr);
    const account = JSON.parse(operator.stdout) as { id: string; secret: string };
    const serverUrl = `${origin}/mcp`;
    await cp('examples/mcp-server', folder, { recursive: true });
    const env = {
      PATH: process.env['PATH'],
      ISSUER: run.base_url,
      RESOURCE_SERVER_ID: account.id,
      RESOURCE_SERVER_SECRET: account.secret,
      SERVER_URL: serverUrl,
    };
    const server = await startProgram('the MCP server', [process.execPath, 'server.js'], {
      cwd: folder,
      env,
      urls: [serverUrl],
    });
    stops.push(() => server.stop());
    const allow = (url: URL, browser = new Browser('')) => browser.allow(url, run.user);
    return { run, serverUrl, documents, allow, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
