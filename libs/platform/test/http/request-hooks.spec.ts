import { once } from 'node:events';
import { connect } from 'node:net';
import { Controller, Get, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MAX_PIPELINED } from '#platform/http/request-hooks.js';
import { until } from '#test/support/until.js';
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

let app: NestFastifyApplication;

beforeAll(async () => {
  app = await createBareService({ module: SlowModule, controllers: [SlowController] });
  await app.listen(0, '127.0.0.1');
});

afterAll(() => app?.close());

const port = async () => Number(new URL(await app.getUrl()).port);

function shortenTimeouts(): void {
  Object.assign(app.getHttpServer(), { headersTimeout: 200, requestTimeout: 200 });
}

async function exchange(sent: string): Promise<string> {
  const to = await port();
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(to, '127.0.0.1', () => socket.write(sent));
    socket.on('data', (bytes) => (received += bytes.toString()));
    socket.on('end', () => resolve(received)).on('error', reject);
  });
}

describe('a connection with pipelined requests', () => {
  beforeEach(() => {
    handled = 0;
    answered = new Promise((resolve) => (answer = resolve));
  });

  it('gets every response up to the limit', async () => {
    const socket = connect(await port(), '127.0.0.1');
    answer();
    for (const round of [1, 2]) {
      socket.write(REQUEST.repeat(MAX_PIPELINED + 1));
      for (let text = ''; text.split('HTTP/1.1 200').length <= MAX_PIPELINED + 1;)
        text += String(await once(socket, 'data'));
      expect(handled).toBe(round * (MAX_PIPELINED + 1));
    }
    socket.destroy();
  });

  it('is closed beyond the limit, without handling further requests', async () => {
    const socket = connect(await port(), '127.0.0.1').resume();
    socket.on('error', () => undefined).write(REQUEST.repeat(20_000));
    await new Promise((resolve) => socket.on('close', resolve));
    answer();
    expect(handled).toBe(MAX_PIPELINED + 1);
  });
});

describe('a malformed request', () => {
  it.each([
    ['a request of another protocol', 'EHLO example.com\r\n\r\n', 400, 'the request is malformed'],
    [
      'a header of 20 KiB',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'the request line and headers are larger than 16 KiB',
    ],
    [
      'an incomplete header section',
      'GET / HTTP/1.1\r\nHost: a\r\n',
      408,
      'the request did not arrive in time, repeat it',
    ],
  ])(
    'gets the standard error with no-store, and its connection closes: %s',
    async (_what, sent, status, error_description) => {
      if (status === 408) shortenTimeouts();
      const response = await exchange(sent);
      const [head = '', body = ''] = response.split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head).toContain('\r\nCache-Control: no-store\r\n');
      expect(head).toContain('\r\nContent-Type: application/json; charset=utf-8\r\n');
      expect(JSON.parse(body)).toEqual({ error: 'invalid_request', error_description });
    },
  );
});

describe('a half-closed connection', () => {
  it.each([
    ['nothing', ''],
    ['an incomplete header section', 'GET / HTTP/1.1\r\nHost: a\r\n'],
    ['an incomplete body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx'],
    ['a request of another protocol', 'EHLO example.com\r\n\r\n'],
  ])('is closed after the client has sent %s', async (_what, sent) => {
    shortenTimeouts();
    const socket = connect({ port: await port(), host: '127.0.0.1', allowHalfOpen: true }).resume();
    await once(socket, 'connect');
    socket.write(sent);
    const open = () =>
      new Promise((resolve) => app.getHttpServer().getConnections((_, count) => resolve(count)));
    await until('the connection is open', 60_000, async () => (await open()) === 1);
    await until('the server has closed the connection', 60_000, async () => (await open()) === 0);
    socket.destroy();
  });
});
