import { connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { ClientStore } from '#database/client/client.store.js';
import { DatabaseHealth } from '#database/connection/database-health.js';
import { DatabaseModule } from '#database/database.module.js';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { UserStore } from '#database/user/user.store.js';
import { freePort } from '#local/servers/free-port.js';
import { type Isolated, isolate } from '#test/support/isolate.js';

describe('DatabaseModule', () => {
  let isolated: Isolated;
  const open: { close(): unknown }[] = [];

  beforeAll(async () => {
    isolated = await isolate();
  });
  afterEach(async () => {
    for (const resource of open.splice(0).toReversed()) await resource.close();
  });
  afterAll(() => isolated.close());

  const start = async (options: Parameters<typeof DatabaseModule.forRoot>[0]) => {
    const app = await NestFactory.createApplicationContext(DatabaseModule.forRoot(options), {
      logger: false,
      abortOnError: false,
    });
    open.push(app);
    return app;
  };

  /** Proxy in front of PostgreSQL, so that a test can cut connections. */
  const relay = async (given?: number) => {
    // Outside the ephemeral range, because the port is closed and reopened.
    const port = given ?? (await freePort());
    const sockets = new Set<Socket>();
    const upstream = new URL(isolated.databaseUrl);
    const server: Server = createServer((client) => {
      const database = connectTo(Number(upstream.port), upstream.hostname);
      for (const socket of [client, database]) {
        sockets.add(socket.on('error', () => undefined));
      }
      client.pipe(database).pipe(client);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const cut = () => sockets.forEach((socket) => socket.destroy());
    const close = async () => {
      cut();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    };
    open.push({ close });
    const url = new URL(isolated.databaseUrl);
    url.host = `127.0.0.1:${port}`;
    return { url: url.href, port, cut, close };
  };

  it('provides the stores', async () => {
    const app = await start({ databaseUrl: isolated.databaseUrl });
    expect(await app.get(ClientStore).list()).toEqual([]);
    expect(await app.get(UserStore).findByLogin('nobody')).toBeNull();
    expect(await app.get(GrantRecordStore).find('nothing')).toBeNull();
    await expect(app.get(DatabaseHealth).ping()).resolves.toBeUndefined();
  });

  it('waits for a database that is not up yet', async () => {
    const { url, port, close } = await relay();
    await close();
    const app = start({ databaseUrl: url, retryForMs: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 400));
    await relay(port);
    await expect((await app).get(DatabaseHealth).ping()).resolves.toBeUndefined();
  });

  it('fails after the time limit, naming the server but not the password', async () => {
    const { url, port, close } = await relay();
    await close();
    const error = await start({ databaseUrl: url, retryForMs: 300 }).catch((error: unknown) => error);
    expect(String(error)).toContain(`127.0.0.1:${port}`);
    expect(String(error)).toContain('check DATABASE_URL');
    expect(String(error)).not.toContain(new URL(url).password);
  });

  it('does not retry if the database does not exist', async () => {
    const url = new URL(isolated.databaseUrl);
    url.pathname = '/no_such_database';
    // Longer than the test timeout.
    await expect(start({ databaseUrl: url.href, retryForMs: 3_600_000 })).rejects.toThrow('no_such_database');
  });

  it('opens a new connection after one is cut', async () => {
    const { url, cut } = await relay();
    const app = await start({ databaseUrl: url });
    const health = app.get(DatabaseHealth);
    await health.ping();
    const { master: pool } = app.get(DataSource).driver as unknown as { master: Pool };
    const noticed = once(pool, 'remove');
    cut();
    await noticed;
    await expect(health.ping()).resolves.toBeUndefined();
  });

  it('closes its connections with the application', async () => {
    const app = await start({ databaseUrl: isolated.databaseUrl });
    const health = app.get(DatabaseHealth);
    await app.close();
    await expect(health.ping()).rejects.toThrow();
  });
});
