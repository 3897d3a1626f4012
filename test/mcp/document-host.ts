import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { findTool } from '../support/tool.js';

/** An https host of metadata documents. Processes trust its certificate by `NODE_EXTRA_CA_CERTS`. */
export interface DocumentHost {
  readonly host: string;
  readonly certificateFile: string;
  /** Publishes the document of a public client. @returns its client_id */
  publish(name: string, redirectUri: string): string;
  close(): void;
}

/** @param folder for key and certificate */
export async function startDocumentHost(folder: string): Promise<DocumentHost> {
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const { command, libraryPath } = await findTool('openssl');
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const name = '-subj /CN=localhost -addext subjectAltName=DNS:localhost';
  const made = await runCommand(
    command,
    [...`${request} ${name}`.split(' '), '-keyout', keyFile, '-out', certificateFile],
    { env: { ...process.env, ...(libraryPath && { LD_LIBRARY_PATH: libraryPath }) } },
  );
  if (made.code !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`);
  const documents = new Map<string, object>();
  const key = { key: await readFile(keyFile), cert: await readFile(certificateFile) };
  const server = createServer(key, ({ url = '' }, response) => {
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
