import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An answer in place of the service's. */
interface Answer {
  readonly status: number;
  readonly body: string;
}

/** HTTP proxy between an API and the introspection endpoint that counts requests. */
export class IntrospectionProxy {
  questions = 0;
  /** `silence` answers nothing; undefined asks the service. */
  instead: Answer | 'silence' | undefined;

  private constructor(private readonly server: Server) {}

  static async to(target: string): Promise<IntrospectionProxy> {
    const server = createServer((request, response) => void proxy.answer(target, request, response));
    const proxy = new IntrospectionProxy(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.questions++;
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
