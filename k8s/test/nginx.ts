import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGuarded } from '#local/servers/guarded-process.js';
import { startService } from '#local/servers/started-service.js';
import { serverEnvironment } from '#local/servers/find-server.js';
import { findTool } from '#test/support/tool.js';
import { makeSettings } from './settings.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Options of a request. */
export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Client address, which must be a loopback address. */
  readonly from?: string;
}

/**
 * Sends a request to the ingress as an external client, with verified TLS and SNI.
 * @param ca certificate of the authority that issued the server's certificate
 */
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

/** Sends a request to an app from another local address, bypassing the ingress. */
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

function answerTo(outgoing: ClientRequest, body: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    outgoing.on('error', reject).end(body);
  });
}

export interface NginxPlace {
  readonly folder: string;
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
}

export interface Ingress {
  readonly port: number;
  ask(url: string, asking?: Asking): Promise<Answer>;
  logs(): Promise<string>;
  stop(): Promise<void>;
}

/** Certificate and key of a server, as PEM. */
export interface ServerIdentity {
  readonly certificate: string;
  readonly key: string;
}

/**
 * @param configuration returns a configuration with `daemon off`, which writes logs to `*.log` in the folder
 * @param identity by default a new development certificate
 */
export async function startNginx(
  configuration: (place: NginxPlace) => string,
  identity?: ServerIdentity,
): Promise<Ingress> {
  const nginx = await findTool('nginx');
  const folder = await mkdtemp(join(tmpdir(), 'ingress-'));
  const settings = join(folder, 'settings');
  const [certificate, key] = [join(settings, 'ingress/tls.crt'), join(settings, 'ingress/tls.key')];
  if (identity) {
    await mkdir(join(settings, 'ingress'), { recursive: true });
    await writeFile(certificate, identity.certificate);
    await writeFile(key, identity.key);
  } else await makeSettings(settings);
  const file = join(folder, 'nginx.conf');
  const output = join(folder, 'output.log');
  const service = await startService('nginx', output, async (port) => {
    await writeFile(file, configuration({ folder, port, certificate, key }));
    const process = startGuarded({
      name: 'nginx',
      command: nginx.command,
      args: ['-p', folder, '-e', join(folder, 'error.log'), '-c', file],
      cwd: folder,
      env: serverEnvironment(nginx.libraryPath),
      logFile: output,
      signal: 'SIGTERM',
      grace: 2_000,
      remove: [folder],
    });
    return { url: `https://127.0.0.1:${port}`, process, connect: () => reach(port) };
  });
  const port = Number(new URL(service.url).port);
  const ca = await readFile(certificate);
  return {
    port,
    ask: (url, asking) => ask(new URL(url), port, ca, asking),
    async logs() {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.log'));
      return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
    },
    stop: () => service.process.stop(),
  };
}

/** Under root, nginx would run its workers as `nobody`, who cannot write to the folder. */
export const asItsUser = process.getuid?.() === 0 ? 'user root;' : '';

function reach(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}

/** Waits for log lines, because nginx writes them after the responses. */
export async function lines(ingress: Ingress, atLeast: number): Promise<string[]> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) {
    const all = (await ingress.logs()).split('\n').filter(Boolean);
    if (all.length >= atLeast) return all;
  }
  throw new Error(`nginx did not write ${atLeast} lines`);
}
