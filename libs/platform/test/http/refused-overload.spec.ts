import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Readiness } from '#platform/health/readiness.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { AMBIGUOUS_HOSTS, KeptConnection } from '#test/support/raw-http.js';
import { createBareService, sendInTime, THING } from '../support/bare-service.js';

const REQUEST = 'GET /thing HTTP/1.1\r\nHost: localhost\r\n\r\n';

class ObservedReadiness extends Readiness {
  constructor(private readonly stopped: () => void) {
    super();
  }

  override stop(): void {
    super.stop();
    this.stopped();
  }
}

const portOf = async (app: NestFastifyApplication) => Number(new URL(await app.getUrl()).port);

describe('an overloaded app that responds before the framework', () => {
  let app: NestFastifyApplication;
  let isClosing: Promise<void>;
  let isOverloaded: boolean;

  beforeEach(async () => {
    isOverloaded = true;
    let stopped = (): void => undefined;
    isClosing = new Promise((resolve) => (stopped = resolve));
    app = await createBareService(
      THING,
      { crossOriginPaths: ['/thing'], overloadBody: () => ({}) },
      {
        readiness: new ObservedReadiness(stopped),
        metrics: new Metrics(),
        delay: { check: () => undefined, isOverloaded: () => isOverloaded },
      },
    );
    await app.listen(0, '127.0.0.1');
  });
  afterEach(() => app.close());

  // A proxy that sees another host may also see another end of the request (RFC 9112 3.2).
  it.each(AMBIGUOUS_HOSTS)('ends the connection of a request with %s', async (_name, head) => {
    const connection = await KeptConnection.open(await portOf(app));
    const { text } = await connection.send(`GET /thing HTTP/1.1\r\n${head}\r\n`);
    connection.close();
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  });

  // RFC 9112 9.6: a connection that closes with unread bytes is reset.
  it.each([
    ['503 under overload', '/thing'],
    ['response to an unknown path', '/nothing'],
  ])(
    'sends the %s to a client that requests Connection: close and reads only after it has sent its body',
    async (name, path) => {
      isOverloaded = name === '503 under overload';
      const port = await portOf(app);
      const answer = await sendInTime(async () => {
        const socket = connect(port, '127.0.0.1').pause();
        await once(socket, 'connect');
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 6\r\n\r\n`,
        );
        for (const part of ['ab', 'cd', 'ef']) {
          await sleep(20);
          socket.write(part);
        }
        await sleep(20);
        return text(socket);
      });
      expect(answer).toMatch(isOverloaded ? /^HTTP\/1\.1 503 / : /^HTTP\/1\.1 4\d\d /);
    },
  );

  it('responds to preflights, so that a script can read the 503 for its request', async () => {
    const headers = { Origin: 'https://spa.example.com', 'Access-Control-Request-Method': 'GET' };
    const preflight = await fetch(`${await app.getUrl()}/thing`, { method: 'OPTIONS', headers });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect((await fetch(`${await app.getUrl()}/thing`, { headers })).status).toBe(503);
  });

  it('ends each connection with the next response while it closes', async () => {
    const socket = connect(await portOf(app), '127.0.0.1');
    socket.write(REQUEST);
    const [refused] = (await once(socket, 'data')) as [Buffer];
    expect(String(refused)).toMatch(/^HTTP\/1\.1 503 [^]*\r\nconnection: keep-alive\r\n/i);
    const closed = app.close();
    await isClosing;
    socket.write(REQUEST);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i);
    await closed;
  });
});
