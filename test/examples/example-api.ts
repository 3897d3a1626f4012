import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { freePort } from '#local/servers/free-port.js';
import { runCommand } from '#local/servers/run-command.js';
import { type FoundLibrary, PACKAGES, SHORT_JVM, type WantedLibrary } from '../support/foreign-library.js';
import { type HttpServer, serve } from '../support/http-server.js';
import { type RunningProgram, startProgram } from '../support/program.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

interface Example {
  readonly name: string;
  readonly folder: string;
  readonly library: WantedLibrary;
  readonly build?: (folder: string, library: FoundLibrary) => readonly string[];
  readonly start: (folder: string, library: FoundLibrary) => readonly [string, ...string[]];
}

const sibling = (command: string, name: string) => command.replace(/[^/]+$/, name);

export const EXAMPLES: readonly Example[] = [
  {
    name: 'Python with FastAPI',
    folder: 'examples/fastapi-api',
    library: {
      interpreter: 'python3',
      packages: PACKAGES.python3,
      probe: 'import fastapi, httpx, uvicorn; print("FastAPI", fastapi.__version__)',
    },
    start: (_folder, { command }) => [command, '-B', 'main.py'],
  },
  {
    name: 'Go',
    folder: 'examples/go-api',
    library: {
      interpreter: 'go',
      packages: PACKAGES.go,
      probe: 'github.com/nats-io/nats.go',
    },
    build: (folder, { command }) => [command, 'build', '-o', join(folder, 'api'), '.'],
    start: (folder) => [join(folder, 'api')],
  },
  {
    name: 'Java',
    folder: 'examples/java-api',
    library: {
      interpreter: 'java',
      packages: PACKAGES.java,
      probe: 'test/examples/JacksonVersion.java',
    },
    build: (folder, { command }) => [
      '/bin/sh',
      '-c',
      `exec "$0" "$@" src/*.java`,
      sibling(command, 'javac'),
      ...SHORT_JVM.map((option) => `-J${option}`),
      '-d',
      folder,
    ],
    start: (folder, { command, env }) => [
      command,
      ...SHORT_JVM,
      '-cp',
      [folder, env['CLASSPATH']].join(delimiter),
      'BookingsApi',
    ],
  },
];

export interface BuiltExample {
  run(settings: Readonly<Record<string, string>>): Promise<RunningExample>;
  remove(): Promise<void>;
}

export interface RunningExample extends RunningProgram {
  readonly url: string;
}

export async function buildExample(example: Example, library: FoundLibrary): Promise<BuiltExample> {
  const folder = await mkdtemp(join(tmpdir(), 'example-'));
  const cwd = resolve(example.folder);
  // Shares the Go build cache between runs.
  const env = { GOCACHE: resolve('.local/go-build'), ...library.env };
  const [command, ...args] = example.build?.(folder, library) ?? [];
  if (command) {
    const { code, stdout, stderr } = await runCommand(command, args, { cwd, env });
    if (code !== 0) throw new Error(`${example.name} was not built: ${stdout}${stderr}`);
  }
  return {
    async run(settings) {
      const port = String(await freePort());
      const url = `http://127.0.0.1:${port}/bookings`;
      // Bypasses a configured proxy, because the services run on this machine.
      const env = { ...library.env, no_proxy: '*', NO_PROXY: '*', ...settings, PORT: port };
      return {
        url,
        ...(await startProgram(example.name, example.start(folder, library), { cwd, env, urls: [url] })),
      };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Proxy that counts the requests to the introspection endpoint. */
export class IntrospectionProxy {
  requests = 0;
  /** Replaces the response; `silence` sends none. Undefined forwards the request to the service. */
  instead: Answer | 'silence' | undefined;

  private server: HttpServer | undefined;

  static async to(target: string): Promise<IntrospectionProxy> {
    const proxy = new IntrospectionProxy();
    proxy.server = await serve((request, response) => void proxy.answer(target, request, response));
    return proxy;
  }

  get url(): string {
    return `${this.server?.url}/`;
  }

  close(): void {
    this.server?.close();
  }

  private async answer(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    const { instead } = this;
    const body = await text(request);
    response.setHeader('Content-Type', 'application/json');
    if (instead === 'silence') return;
    if (instead) {
      response.writeHead(instead.status).end(instead.body);
      return;
    }
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const headers = { Authorization: authorization, 'Content-Type': type };
    const answer = await fetch(target, { method: 'POST', headers, body });
    response.writeHead(answer.status).end(await answer.text());
  }
}
