import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/**
 * Sends Latin-1 bytes that HTTP libraries refuse to send.
 * @returns the response until the server closes the connection
 */
export function exchange(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(text, 'latin1')));
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

/** Heads that violate RFC 9112 3.2, which requires exactly one Host. */
export const AMBIGUOUS_HOSTS: readonly (readonly [name: string, head: string])[] = [
  ['two Host headers', 'Host: a.example\r\nHost: b.example\r\n'],
  ['the same Host header twice', 'Host: a.example\r\nX: 1\r\nhost: a.example\r\n'],
  ['an empty and a valid Host header', 'Host:\r\nHost: a.example\r\n'],
  [
    'a second Host header after 2,000 other headers',
    `Host: a.example\r\n${'a:\r\n'.repeat(2_000)}Host: b.example\r\n`,
  ],
  ['no Host header', 'X-Forwarded-Host: a.example\r\n'],
];

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Connection that sends raw requests sequentially, with less CPU time than an HTTP client. */
export class KeptConnection {
  private text = '';
  private answered: (answer: RawAnswer) => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: string) => this.receive(chunk));
  }

  static async open(port: number): Promise<KeptConnection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true }).setEncoding('latin1');
    await once(socket, 'connect');
    return new KeptConnection(socket);
  }

  send(request: string): Promise<RawAnswer> {
    this.text = '';
    return new Promise((resolve) => {
      this.answered = resolve;
      this.socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(chunk: string): void {
    this.text += chunk;
    const head = this.text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(this.text)?.[1]);
    if (this.text.length >= head + 4 + length)
      this.answered({ status: Number(this.text.slice(9, 12)), text: this.text });
  }
}

export function rawForm(path: string, fields: Readonly<Record<string, string>>): string {
  const body = new URLSearchParams(fields).toString();
  const headers = `Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`;
}
