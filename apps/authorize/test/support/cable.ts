import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a real server that a test can cut, and open again. */
export class Cable {
  private readonly open = new Set<Socket>();
  private readonly far = new Set<Socket>();
  private isCut = false;
  /** Sees what the app sends. */
  watch: (bytes: Buffer) => void = () => undefined;
  /** Sees each SQL statement that the app runs. */
  watchStatements: (sql: string) => void = () => undefined;
  /** The texts of prepared statements, by name. */
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

  /** What PostgreSQL's messages run: simple queries (Query), and what was prepared (Parse) and gets its values (Bind). */
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

  /** Keeps the server's answers back; what the app sends goes on. */
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
