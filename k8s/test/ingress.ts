import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:net';
import { startGuarded } from '#testing/backing/guarded-process.js';
import { serverEnvironment } from '#testing/backing/server-environment.js';
import { startService } from '#testing/backing/started-service.js';
import { findTool } from '#testing/tool.js';
import { all } from './manifests.js';
import { nginxConfiguration } from './nginx-configuration.js';
import type { Manifest } from './render.js';
import { ownSettings } from './settings.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request as the world makes it: to the ingress, by TLS that is verified, with the host in its name. */
export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The client's address, of the loopback network. */
  readonly from?: string;
}

/** An nginx made of the manifests' Ingresses, in front of the apps. */
export interface Ingress {
  readonly port: number;
  ask(url: string, asking?: Asking): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startIngress(
  manifests: readonly Manifest[],
  backends: Readonly<Record<string, string>>,
): Promise<Ingress> {
  const nginx = await findTool('nginx');
  const settings = await ownSettings();
  const [certificate, key] = ['tls.crt', 'tls.key'].map((name) => join(settings.folder, 'ingress', name));
  const folder = await mkdtemp(join(tmpdir(), 'ingress-'));
  const file = join(folder, 'nginx.conf');
  const service = await startService('nginx', join(folder, 'log'), async (port) => {
    const place = { folder, port, certificate: certificate ?? '', key: key ?? '', backends };
    await writeFile(file, nginxConfiguration(all(manifests, 'Ingress'), place));
    const process = startGuarded({
      name: 'nginx',
      command: nginx.command,
      args: ['-p', folder, '-e', join(folder, 'error.log'), '-c', file],
      cwd: folder,
      env: serverEnvironment(nginx.libraryPath),
      logFile: join(folder, 'log'),
      signal: 'SIGTERM',
      grace: 2_000,
      remove: [folder],
    });
    return { url: `https://127.0.0.1:${port}`, process, connect: () => reach(port) };
  });
  const port = Number(new URL(service.url).port);
  const ca = await readFile(certificate ?? '');
  return {
    port,
    ask: (url, asking) => ask(new URL(url), port, ca, asking),
    async stop() {
      await service.process.stop();
      await settings.remove();
    },
  };
}

function ask(url: URL, port: number, ca: Buffer, { headers = {}, ...asking }: Asking = {}): Promise<Answer> {
  const { hostname } = url;
  return answerTo(
    httpsRequest({
      ...optionsOf({ hostname: '127.0.0.1', port, path: url.pathname + url.search, ...asking }),
      servername: hostname,
      ca,
      headers: { host: hostname, ...lengthOf(asking.body), ...headers },
    }),
    asking.body,
  );
}

/** The same past the ingress, from another address of this machine. */
export function askDirectly(to: Asking & Target): Promise<Answer> {
  const headers = { ...lengthOf(to.body), ...to.headers };
  return answerTo(httpRequest({ ...optionsOf(to), headers }), to.body);
}

interface Target {
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
}

function optionsOf({ hostname, port, path, method = 'GET', from }: Asking & Target) {
  return { hostname, port, path, method, ...(from && { localAddress: from }), agent: false as const };
}

function lengthOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(body.length) };
}

function answerTo(asked: ClientRequest, body: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    asked.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    asked.on('error', reject).end(body);
  });
}

function reach(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}
