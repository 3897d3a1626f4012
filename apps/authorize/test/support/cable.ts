import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** TCP proxy to a real server, whose connections a test can cut and restore. */
export class Cable {
  private readonly open = new Set<Socket>();
  private readonly far = new Set<Socket>();
  private isCut = false;
  /** Called with the bytes that the app sends. */
  watch: (bytes: Buffer) => void = () => undefined;
  /** Called with each SQL statement that the app runs. */
  watchStatements: (sql: string) => void = () => undefined;
  /** SQL of prepared statements by name. */
  private readonly prepared = new Map<string, string>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private readonly isPostgres: boolean,
  ) {}

  static async to(target: string): Promise<Cable> {
    const { hostname, port } = new URL(target);
    const server = createServer((socket) => cable.join(socket, connect(Number(port), hostname)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const cable = new Cable(server, url.href, url.protocol.startsWith('postgres'));
    return cable;
  }

  private join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.open.add(one);
      one
        .on('error', () => other.destroy())
        .on('close', () => other.destroy())
        .pipe(other);
    }
    this.far.add(far);
    near.on('data', (bytes: Buffer) => {
      this.watch(bytes);
      if (this.isPostgres) for (const sql of this.statementsIn(bytes)) this.watchStatements(sql);
    });
    if (this.isCut) near.destroy();
  }

  /** Extracts the SQL of PostgreSQL's messages: Query, and Bind of a statement prepared by Parse. */
  private *statementsIn(bytes: Buffer): Generator<string> {
    for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
      const type = String.fromCharCode(bytes[at] ?? 0);
      const body = bytes.subarray(at + 5, at + 1 + bytes.readUInt32BE(at + 1)).toString('latin1');
      const [first = '', second = ''] = body.split('\0', 2);
      if (type === 'P') this.prepared.set(first, second);
      const sql = type === 'Q' ? first : type === 'B' ? this.prepared.get(second) : undefined;
      if (sql !== undefined) yield sql;
    }
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.open) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  /** Holds back the server's responses; the app's requests still arrive. */
  hold(): void {
    for (const socket of this.far) socket.pause();
  }

  release(): void {
    for (const socket of this.far) socket.resume();
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}
