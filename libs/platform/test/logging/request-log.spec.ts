import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify, type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { RequestObservers } from '#platform/http/request-hooks.js';
import { addLogContext, assignReference, logFailure, requestLog } from '#platform/logging/request-log.js';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reference: string;
  readonly res?: { readonly statusCode: number };
  readonly cause?: string;
}

describe('the log of a request', () => {
  let app: FastifyInstance;
  const lines: Line[] = [];
  let answer: () => void;
  const handled = new PassThrough();

  beforeAll(async () => {
    const output = new PassThrough().on('data', (line) => lines.push(JSON.parse(String(line)) as Line));
    app = fastify();
    const observers = new RequestObservers();
    observers.add(requestLog(pino(output)));
    observers.observe(app);
    const waits = () => {
      handled.emit('begun');
      return new Promise<void>((resolve) => (answer = resolve));
    };
    app.get('/works', async ({ raw }) => {
      await waits();
      addLogContext(raw, { cause: 'the handler succeeded' });
      return {};
    });
    app.get('/fails', async ({ raw }) => {
      await waits();
      addLogContext(raw, { cause: 'the handler failed' });
      throw new Error('the handler failed');
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => app.close());
  beforeEach(() => lines.splice(0));

  async function request(path: string): Promise<Socket> {
    const [begun] = [once(handled, 'begun')];
    const { port } = app.server.address() as { port: number };
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.resume().write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await begun;
    return socket;
  }

  async function written(count: number): Promise<void> {
    while (lines.length < count) await sleep(5);
  }

  it.each([
    ['/works', 30, 200, 'the handler succeeded'],
    ['/fails', 50, 500, 'the handler failed'],
  ])(
    'has a second line with the outcome of the handler if the client has disconnected: %s',
    async (path, level, statusCode, cause) => {
      const socket = await request(path);
      socket.destroy();
      await written(1);
      answer();
      await written(2);
      const [aborted, late] = lines;
      expect(aborted).toMatchObject({ level: 30, msg: 'aborted' });
      expect(late).toMatchObject({ level, msg: 'not delivered', res: { statusCode }, cause });
      expect(late?.reference).toBe(aborted?.reference);
    },
  );

  it('contains one line if the client stays connected', async () => {
    const accepted = once(app.server, 'connection') as Promise<[Socket]>;
    const socket = await request('/works');
    const [server] = await accepted;
    answer();
    await written(1);
    // Not `once`, which rejects if the client closes before it has read the response.
    const closed = new Promise((resolve) => server.once('close', resolve));
    socket.destroy();
    await closed;
    expect(lines).toMatchObject([{ msg: 'answered', res: { statusCode: 200 } }]);
  });
});

it('the log line of a request that failed before the framework contains the reference but not the query', () => {
  const lines: Line[] = [];
  const output = new PassThrough().on('data', (line) => lines.push(JSON.parse(String(line)) as Line));
  const request = Object.assign(new IncomingMessage(new Socket()), {
    method: 'GET',
    url: '/path?code=secret',
  });
  const reference = assignReference(request);
  addLogContext(request, { check: 'event_loop_delayed' });
  logFailure(pino(output), request, 503);
  expect(lines).toEqual([
    {
      level: 50,
      time: expect.any(Number),
      pid: expect.any(Number),
      hostname: expect.any(String),
      reference,
      req: { method: 'GET', path: '/path' },
      check: 'event_loop_delayed',
      res: { statusCode: 503 },
      msg: 'failed',
    },
  ]);
});
