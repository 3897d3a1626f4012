import { createHook } from 'node:async_hooks';
import { createSocket } from 'node:dgram';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo, Server as TcpServer } from 'node:net';
import { OutsideHosts, type Resolve, resolveByDns } from '#platform/http/outside-hosts.js';
import { OutsideHttp } from '#platform/http/outside-http.js';

const opened: (Server | TcpServer)[] = [];

async function serve(listener: RequestListener): Promise<number> {
  return listening(createServer(listener));
}

async function listening(server: Server | TcpServer): Promise<number> {
  opened.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterAll(async () => {
  for (const server of opened) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

const http = (allowed = 'localhost,127.0.0.1', resolve?: Resolve) =>
  new OutsideHttp(new OutsideHosts(allowed), resolve);

describe('an outside request', () => {
  it('returns status, headers and body, even of an error response', async () => {
    const port = await serve((request, response) => {
      response.writeHead(request.method === 'POST' ? 400 : 200, { 'X-Kind': 'test' });
      request.pipe(response.write('got ') ? response : response);
    });
    const url = `http://127.0.0.1:${port}/`;
    const got = await http().fetchOutside(url);
    expect([got.status, got.headers['x-kind'], got.body.toString()]).toEqual([200, 'test', 'got ']);
    const posted = await http().fetchOutside(url, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: 'sent',
    });
    expect([posted.status, posted.body.toString()]).toEqual([400, 'got sent']);
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect: %i', async (status) => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests++;
      response.writeHead(status, { Location: '/other' }).end();
    });
    await expect(http().fetchOutside(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      reason: 'redirected',
    });
    expect(requests).toBe(1);
  });

  it('fails when the body exceeds the size limit, even without Content-Length', async () => {
    let written = 0;
    const port = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written++;
      };
      response.on('drain', more);
      more();
    });
    await expect(http().fetchOutside(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      reason: 'too_large',
    });
    expect(written).toBeLessThan(2_000);
  });

  it.each<[string, RequestListener]>([
    ['sends no headers', () => undefined],
    ['sends only part of the body', (_request, response) => void response.write('[')],
    [
      'sends single bytes',
      (_request, response) => {
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('has a total timeout for a host that %s', async (_when, listener) => {
    const port = await serve(listener);
    await expect(http().fetchOutside(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })).rejects.toMatchObject({
      reason: 'timed_out',
    });
  });

  it('fails if the host closes the connection, even during the body', async () => {
    const tcp = await listening(createTcpServer((socket) => socket.destroy()));
    const port = await serve((_request, response) => {
      response.write('{', () => response.destroy());
    });
    for (const closing of [tcp, port])
      await expect(http().fetchOutside(`http://127.0.0.1:${closing}/`)).rejects.toMatchObject({
        reason: 'unreachable',
      });
  });

  it('fails if the host changes the protocol (101), for which Node emits neither a response nor an error', async () => {
    const port = await listening(
      createTcpServer((socket) =>
        socket.once('data', () =>
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
          ),
        ),
      ),
    );
    await expect(http().fetchOutside(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })).rejects.toMatchObject({
      reason: 'unreachable',
    });
  });

  it('fails after ten interim responses', async () => {
    let written = 0;
    const port = await listening(
      createTcpServer((socket) => {
        const more = () => {
          while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000)))
            written++;
        };
        socket.on('error', () => undefined).on('drain', more);
        socket.once('data', more);
      }),
    );
    await expect(http().fetchOutside(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      reason: 'too_large',
    });
    expect(written).toBeLessThan(1_000);
  });

  it('rejects a compressed response, unless the body is ignored', async () => {
    const port = await serve((_request, response) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).write('x'),
    );
    const { status } = await http().fetchOutside(`http://127.0.0.1:${port}/`, { maxBytes: 0 });
    expect(status).toBe(200);
    await expect(http().fetchOutside(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      reason: 'encoded',
    });
  });

  it.each([
    'http://keys.example.com/',
    'ftp://keys.example.com/',
    'file:///etc/passwd',
    'https://user@keys.example.com/',
    'https://user:password@keys.example.com/',
    'not a URL',
  ])('is refused without a connection: %s', async (url) => {
    await expect(http().fetchOutside(url)).rejects.toMatchObject({ reason: 'url_refused' });
  });

  it('needs https for an allowed host on another machine', async () => {
    await expect(http('keys.example.com').fetchOutside('http://keys.example.com/')).rejects.toMatchObject({
      reason: 'url_refused',
    });
  });
});

describe('a private address', () => {
  it.each([
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://localhost/',
    'http://127.0.0.2/',
  ])('is refused unless it is allowed: %s', async (url) => {
    await expect(http('').fetchOutside(url)).rejects.toMatchObject({ reason: 'address_refused' });
  });

  it('is refused without a connection, even if the name also has a public address', async () => {
    let connections = 0;
    const port = await listening(createTcpServer((socket) => void (connections++, socket.destroy())));
    const resolve: Resolve = (_host, _options, answer) =>
      answer(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '8.8.8.8', family: 4 },
      ]);
    await expect(http('', resolve).fetchOutside(`https://keys.example.com:${port}/`)).rejects.toMatchObject({
      reason: 'address_refused',
    });
    expect(connections).toBe(0);
  });

  it('is not reachable by DNS rebinding: the name is resolved once per request', async () => {
    let [resolved, connected] = [0, 0];
    const port = await listening(createTcpServer((socket) => void (connected++, socket.destroy())));
    const resolve: Resolve = (_host, _options, answer) => {
      resolved++;
      answer(null, [{ address: resolved === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    };
    // Opens a connection, and fails because the server has no certificate.
    await expect(
      http('127.0.0.1', resolve).fetchOutside(`https://keys.example.com:${port}/`),
    ).rejects.toMatchObject({ reason: 'unreachable' });
    expect([resolved, connected]).toEqual([1, 1]);
  });

  it('is allowed by name, address or range', async () => {
    const port = await serve((_request, response) => response.end('{}'));
    for (const allowed of ['localhost', '127.0.0.0/8,::1', '127.0.0.1'])
      if (allowed === 'localhost')
        expect((await http(allowed).fetchOutside(`http://localhost:${port}/`)).status).toBe(200);
      else expect((await http(allowed).fetchOutside(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });
});

describe('the name of an outside host', () => {
  it('is resolved outside the thread pool, so that an unresponsive name server does not block other lookups', async () => {
    const silent = createSocket('udp4');
    silent.bind(0, '127.0.0.1');
    await once(silent, 'listening');
    const operations = new Set<string>();
    const hook = createHook({ init: (_id, type) => void operations.add(type) }).enable();
    const client = http('', resolveByDns([`127.0.0.1:${silent.address().port}`]));
    const fetched = client.fetchOutside('https://keys.example.com/', { timeoutMs: 300 });
    await expect(fetched).rejects.toMatchObject({ reason: 'timed_out' });
    hook.disable();
    silent.close();
    expect([...operations].filter((type) => /ADDRINFO|QUERYWRAP/.test(type))).toEqual(['QUERYWRAP']);
  });

  it('may have addresses of only one family', async () => {
    const server = createSocket('udp4', (query, { port, address }) => {
      const [isIpv4, reply] = [query.readUInt16BE(query.length - 4) === 1, Buffer.from(query)];
      reply.writeUInt16BE(0x8180, 2);
      reply.writeUInt16BE(isIpv4 ? 1 : 0, 6);
      // The record consists of the name of the question, type A, class IN, TTL 60 and four bytes of data.
      const record = Buffer.from('c00c000100010000003c00040a000001', 'hex');
      server.send(isIpv4 ? Buffer.concat([reply, record]) : reply, port, address);
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const client = http('', resolveByDns([`127.0.0.1:${server.address().port}`]));
    await expect(client.fetchOutside('https://keys.example.com/')).rejects.toMatchObject({
      reason: 'address_refused',
    });
    server.close();
  });
});
