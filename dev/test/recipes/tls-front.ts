import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server, type TlsOptions } from 'node:tls';
import { runCommand } from '#testing/backing/run-command.js';
import { findTool } from '#testing/tool.js';

/**
 * What ends TLS in front of the services in production, here with a private certificate authority. Libraries then accept the
 * service without the switches that allow http.
 */
export class TlsFront {
  private readonly servers: Server[] = [];

  private constructor(
    private readonly folder: string,
    private readonly certificate: TlsOptions,
  ) {}

  /** The certificate authority, a PEM file that clients have to trust. */
  get authority(): string {
    return join(this.folder, 'authority.pem');
  }

  static async create(): Promise<TlsFront> {
    const folder = await mkdtemp(join(tmpdir(), 'tls-front-'));
    const openssl = await findTool('openssl');
    const env = openssl.libraryPath ? { LD_LIBRARY_PATH: openssl.libraryPath } : {};
    for (const command of CERTIFICATES) {
      const { code, stderr } = await runCommand(openssl.command, command.split(' '), { cwd: folder, env });
      if (code !== 0) throw new Error(`openssl ${command}: ${stderr}`);
    }
    const [key, cert] = await Promise.all(
      ['key.pem', 'cert.pem'].map((file) => readFile(join(folder, file))),
    );
    return new TlsFront(folder, { key, cert });
  }

  /** @returns the https origin that leads to the port */
  async to(port: number): Promise<string> {
    const server = createServer(this.certificate, (outside) => {
      const inside = connect(port, '127.0.0.1');
      for (const socket of [outside, inside]) socket.on('error', () => undefined);
      outside.on('close', () => inside.destroy());
      inside.on('close', () => outside.destroy());
      outside.pipe(inside).pipe(outside);
    });
    // A client that refuses the certificate.
    server.on('tlsClientError', () => undefined);
    this.servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `https://localhost:${(server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const server of this.servers) server.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc';

/** openssl's commands for an authority, and for a server that it vouches for. */
const CERTIFICATES = [
  `req -x509 ${NEW_KEY} -keyout authority.key -out authority.pem -days 2 -subj /CN=authority`,
  `req -x509 ${NEW_KEY} -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE -CA authority.pem -CAkey authority.key`,
];
