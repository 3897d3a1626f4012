import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Head and body, unparsed. */
  readonly text: string;
}

/** A keep-alive connection for raw requests, one at a time. It needs a fraction of an HTTP client's CPU time. */
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

  /** @param request head and body, as they are sent */
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

/** A raw POST request with a form. */
export function rawForm(path: string, fields: Readonly<Record<string, string>>): string {
  const body = new URLSearchParams(fields).toString();
  const headers = `Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`;
}
