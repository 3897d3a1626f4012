import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runCommand } from '../servers/run-command.js';

const CONTROL = `Package: nats-server
Version: 999
Architecture: all
Maintainer: nobody <nobody@example.com>
Description: says a version
`;

/** Debian mirror with one package, for the machine's apt. */
export class DebianMirror {
  /** Functions that send the second half of a package whose first half has been sent. */
  readonly halves: (() => void)[] = [];
  /** Response of the mirror to a request for the package. */
  how: 'whole' | 'halved' | 'damaged' = 'whole';
  private readonly server: Server;

  private constructor(
    private readonly folder: string,
    private readonly deb: Buffer,
  ) {
    this.server = createServer((request, response) => {
      if (request.url?.endsWith('.deb')) this.send(response);
      else if (request.url?.endsWith('/Packages')) response.end(this.index());
      else response.writeHead(404).end();
    });
  }

  static async start(folder: string): Promise<DebianMirror> {
    const tree = join(folder, 'tree');
    await mkdir(join(tree, 'DEBIAN'), { recursive: true });
    await mkdir(join(tree, 'usr/sbin'), { recursive: true });
    await writeFile(join(tree, 'DEBIAN/control'), CONTROL);
    await writeFile(join(tree, 'usr/sbin/nats-server'), '#!/bin/sh\necho nats-server: v999\n');
    await chmod(join(tree, 'usr/sbin/nats-server'), 0o755);
    await writeFile(join(tree, 'usr/padding'), randomBytes(1_000_000));
    const file = join(folder, 'nats-server_999_all.deb');
    const built = await runCommand('dpkg-deb', ['--build', '-Znone', '--root-owner-group', tree, file]);
    if (built.code !== 0) throw new Error(built.stderr);
    const mirror = new DebianMirror(folder, await readFile(file));
    mirror.server.listen(0, '127.0.0.1');
    await once(mirror.server, 'listening');
    return mirror;
  }

  env(): Promise<NodeJS.ProcessEnv> {
    const { port } = this.server.address() as AddressInfo;
    return aptOf(this.folder, `http://127.0.0.1:${port}`);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private send(response: ServerResponse): void {
    const middle = this.deb.length / 2;
    const body = this.how === 'damaged' ? Buffer.from(this.deb).fill(0, middle) : this.deb;
    response.setHeader('Content-Length', body.length);
    if (this.how !== 'halved') return void response.end(body);
    response.write(body.subarray(0, middle));
    this.halves.push(() => void response.end(body.subarray(middle)));
  }

  private index(): string {
    const digest = createHash('sha256').update(this.deb).digest('hex');
    return `${CONTROL}Filename: ./nats-server_999_all.deb\nSize: ${this.deb.length}\nSHA256: ${digest}\n`;
  }
}

/** Returns the environment of a machine whose apt uses only this mirror and has no package lists. */
export async function aptOf(folder: string, mirror: string): Promise<NodeJS.ProcessEnv> {
  const [config, sources] = [join(folder, 'apt.conf'), join(folder, 'sources.list')];
  await mkdir(join(folder, 'state/lists/partial'), { recursive: true });
  await mkdir(join(folder, 'cache/archives/partial'), { recursive: true });
  await writeFile(sources, `deb [trusted=yes] ${mirror} ./\n`);
  const settings = {
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State': join(folder, 'state'),
    'Dir::State::lists': join(folder, 'state/lists'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': join(folder, 'cache'),
    'Acquire::http::Proxy': 'DIRECT',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  await writeFile(config, lines.join(''));
  return { PATH: process.env['PATH'], APT_CONFIG: config };
}
