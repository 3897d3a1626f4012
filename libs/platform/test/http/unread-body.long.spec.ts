import { Controller, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBareService, sendInTime } from '../support/bare-service.js';

@Controller('thing')
class ThingController {
  @Post()
  thing(): object {
    return {};
  }
}

@Module({})
class ThingModule {}

const TOO_LARGE = 200 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

describe('the response to a body that is too large or too slow (RFC 9112 9.6)', () => {
  let app: NestFastifyApplication;

  beforeAll(async () => {
    app = await createBareService({ module: ThingModule, controllers: [ThingController] });
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  /** Opens a connection like a client that reads the response only after it has sent the request. */
  async function begin(framing: string): Promise<Socket> {
    const socket = connect(Number(new URL(await app.getUrl()).port), '127.0.0.1').pause();
    await once(socket, 'connect');
    socket.write(
      `POST /thing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n${framing}\r\n\r\n`,
    );
    return socket;
  }

  it.each([
    ['of a declared length', `Content-Length: ${TOO_LARGE}`, (part: string) => part],
    [
      'in chunks',
      'Transfer-Encoding: chunked',
      (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`,
    ],
  ])('reaches a client that is still sending a body %s', async (_what, framing, framed) => {
    const answer = await sendInTime(async () => {
      const socket = await begin(framing);
      for (let sent = 0; sent < TOO_LARGE; sent += TOO_LARGE / 4) {
        socket.write(framed('x'.repeat(TOO_LARGE / 4)));
        await sleep(20);
      }
      if (framing.startsWith('Transfer')) socket.write('0\r\n\r\n');
      await sleep(20);
      return text(socket);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n/i);
  });

  it('does not wait for a body that never arrives', async () => {
    // Disables the server's timeouts, which would also end the connection.
    const limits = { headersTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
    Object.assign(app.getHttpServer(), { headersTimeout: 0, requestTimeout: 0 });
    try {
      const socket = await begin(`Content-Length: ${TOO_LARGE}`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
    } finally {
      Object.assign(app.getHttpServer(), limits);
    }
  });

  it('is a 408 after 10 s, here after 1 s, if the body or the header section is slow', async () => {
    const server = app.getHttpServer();
    const { headersTimeout, requestTimeout } = server;
    expect({ headersTimeout, requestTimeout }).toEqual({
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    });
    Object.assign(server, { headersTimeout: 1_000, requestTimeout: 1_000 });
    const body = await begin('Content-Length: 5');
    const head = connect(Number(new URL(await app.getUrl()).port), '127.0.0.1');
    head.write('POST /thing HTTP/1.1\r\nHost: loc');
    expect(await text(body)).toMatch(/^HTTP\/1\.1 408 /);
    expect(await text(head)).toMatch(/^HTTP\/1\.1 408 /);
  });
});
