import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '#test/support/until.js';
import { createBareService } from '../support/bare-service.js';

class NoRoutes {}

let app: NestFastifyApplication;

beforeAll(async () => {
  app = await createBareService({ module: NoRoutes });
  await app.listen(0, '127.0.0.1');
});

function shortenTimeouts(): void {
  Object.assign(app.getHttpServer(), { headersTimeout: 200, requestTimeout: 200 });
}

afterAll(() => app?.close());

describe('a malformed request gets the standard error with no-store, and its connection closes', () => {
  it.each([
    ['a request of another protocol', 'EHLO example.com\r\n\r\n', 400, 'the request is malformed'],
    [
      'a header of 20 KiB',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'the request line and headers are larger than 16 KiB',
    ],
    ['half a head', 'GET / HTTP/1.1\r\nHost: a\r\n', 408, 'the request did not arrive in time, repeat it'],
  ])('%s', async (_what, sent, status, error_description) => {
    if (status === 408) shortenTimeouts();
    const answer = await exchange(sent);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain('\r\nCache-Control: no-store\r\n');
    expect(head).toContain('\r\nContent-Type: application/json; charset=utf-8\r\n');
    expect(JSON.parse(body)).toEqual({ error: 'invalid_request', error_description });
  });
});

it.each([
  ['nothing', ''],
  ['half a head', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ['half a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx'],
  ['a request of another protocol', 'EHLO example.com\r\n\r\n'],
])('a connection that a client half-closes after sending %s is closed', async (_what, sent) => {
  shortenTimeouts();
  const { port } = new URL(await app.getUrl());
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }).resume();
  await once(socket, 'connect');
  socket.write(sent);
  const open = () =>
    new Promise((resolve) => app.getHttpServer().getConnections((_, count) => resolve(count)));
  await until('the connection is open', 60_000, async () => (await open()) === 1);
  await until('the server has closed the connection', 60_000, async () => (await open()) === 0);
  socket.destroy();
});

async function exchange(sent: string): Promise<string> {
  const { port } = new URL(await app.getUrl());
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(sent));
    socket.on('data', (bytes) => (answer += bytes.toString()));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}
