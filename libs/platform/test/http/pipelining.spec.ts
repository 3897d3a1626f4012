import { once } from 'node:events';
import { connect } from 'node:net';
import { Controller, Get, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MAX_PIPELINED } from '#platform/http/pipelining.js';
import { createBareService } from '../support/bare-service.js';

const REQUEST = 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n';

let handled = 0;
let answer: () => void;
let answered: Promise<void>;

@Controller('slow')
class SlowController {
  @Get()
  async slow(): Promise<object> {
    handled += 1;
    await answered;
    return {};
  }
}

@Module({})
class SlowModule {}

describe('a connection with pipelined requests', () => {
  let app: NestFastifyApplication;
  let port: number;

  beforeAll(async () => {
    app = await createBareService({ module: SlowModule, controllers: [SlowController] });
    await app.listen(0, '127.0.0.1');
    port = Number(new URL(await app.getUrl()).port);
  });
  afterAll(() => app.close());
  beforeEach(() => {
    handled = 0;
    answered = new Promise((resolve) => (answer = resolve));
  });

  it('gets every response up to the limit', async () => {
    const socket = connect(port, '127.0.0.1');
    answer();
    for (const round of [1, 2]) {
      socket.write(REQUEST.repeat(MAX_PIPELINED + 1));
      for (let text = ''; text.split('HTTP/1.1 200').length <= MAX_PIPELINED + 1;)
        text += String(await once(socket, 'data'));
      expect(handled).toBe(round * (MAX_PIPELINED + 1));
    }
    socket.destroy();
  });

  it('is closed beyond the limit, and no further request is handled', async () => {
    const socket = connect(port, '127.0.0.1').resume();
    socket.on('error', () => undefined).write(REQUEST.repeat(20_000));
    await new Promise((resolve) => socket.on('close', resolve));
    answer();
    expect(handled).toBe(MAX_PIPELINED + 1);
  });
});
