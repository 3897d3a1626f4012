import { once } from 'node:events';
import { createServer } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { ClientStore } from '#clients/client.store.js';
import { DatabaseHealth } from '#database/database-health.js';
import { DatabaseModule } from '#database/database.module.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UserStore } from '#users/user.store.js';
import { freePort } from '#local/servers/free-port.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
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

  /** @param port outside the ephemeral range, because the test closes and reopens it */
  const startProxy = async (port?: number) => {
    const proxy = await FaultProxy.start(isolated.databaseUrl, port ?? (await freePort()));
    open.push(proxy);
    return proxy;
  };

  it('provides the stores', async () => {
    const app = await start({ databaseUrl: isolated.databaseUrl });
    expect(await app.get(ClientStore).find('sc_none')).toBeNull();
    expect(await app.get(UserStore).findByLogin('nobody')).toBeNull();
    expect(await app.get(GrantRecordStore).find('nothing')).toBeNull();
    await expect(app.get(DatabaseHealth).ping()).resolves.toBeUndefined();
  });

  it('waits for a database that has not started yet', async () => {
    const proxy = await startProxy();
    await proxy.close();
    const port = Number(new URL(proxy.url).port);
    const refusing = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    await once(refusing, 'listening');
    const app = start({ databaseUrl: proxy.url, retryForMs: 60_000 });
    await once(refusing, 'connection');
    refusing.close();
    await once(refusing, 'close');
    await startProxy(port);
    await expect((await app).get(DatabaseHealth).ping()).resolves.toBeUndefined();
  });

  it('fails after the time limit, naming the server but not the password', async () => {
    const proxy = await startProxy();
    await proxy.close();
    const url = new URL(proxy.url);
    const error = await start({ databaseUrl: url.href, retryForMs: 300 }).catch((error: unknown) => error);
    expect(String(error)).toContain(url.host);
    expect(String(error)).toContain('check DATABASE_URL');
    expect(String(error)).not.toContain(url.password);
  });

  it('does not retry if the database does not exist', async () => {
    const url = new URL(isolated.databaseUrl);
    url.pathname = '/no_such_database';
    await expect(start({ databaseUrl: url.href, retryForMs: 3_600_000 })).rejects.toThrow('no_such_database');
  });

  it('opens a new connection after a connection is lost', async () => {
    const proxy = await startProxy();
    const app = await start({ databaseUrl: proxy.url });
    const health = app.get(DatabaseHealth);
    await health.ping();
    const { master: pool } = app.get(DataSource).driver as unknown as { master: Pool };
    const noticed = once(pool, 'remove');
    proxy.cut();
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
