import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import type { Clock } from '#platform/clock.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { MalformedMessageError } from '#messaging/nats-message.js';
import { NatsConnection, natsOptions } from '#messaging/nats.connection.js';
import { freePort } from '#local/servers/free-port.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { type Isolated, isolate } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';

const invalidations = {
  'test.changed': (payload: unknown): string => {
    const { tag } = payload as { tag?: string };
    if (tag === undefined) throw new MalformedMessageError('it has no tag');
    return tag;
  },
};

describe('the connection to NATS', () => {
  let services: Isolated;
  let network: FaultProxy;
  let connection: NatsConnection;
  let clock: Clock = Date.now;

  beforeAll(async () => {
    services = await isolate();
    network = await FaultProxy.start(services.natsUrl);
    connection = new NatsConnection({ natsUrl: network.url, name: 'test', invalidations }, () => clock());
    await connection.open();
  });

  afterEach(() => {
    clock = Date.now;
  });

  afterAll(async () => {
    await connection.close();
    await network.close();
    await services.close();
  });

  /** Resolves when NATS responds. Repeats the ping, because a pong that is lost with its connection never arrives. */
  const answers = () =>
    until('NATS answers', 60_000, () =>
      Promise.race([connection.ping().then(() => true), sleep(2_000, false, { ref: false })]),
    );

  async function broadcast(...payloads: (object | string)[]): Promise<void> {
    const other = await connect(natsOptions(services.natsUrl, 'other'));
    for (const payload of payloads)
      other.publish('test.changed', typeof payload === 'string' ? payload : JSON.stringify(payload));
    await other.flush();
    await other.close();
    await connection.ping();
  }

  it('reconnects automatically after NATS has temporarily rejected its login', async () => {
    await answers();
    const { password } = new URL(services.natsUrl);
    const wrong = Buffer.from(password.replaceAll(/./g, '-'));
    let refusals = 0;
    let onThird: () => void;
    const threeRefusals = new Promise<void>((resolve) => (onThird = resolve));
    network.onData = (bytes) => {
      const at = bytes.indexOf(password);
      if (password === '' || at < 0) return bytes;
      refusals += 1;
      if (refusals === 3) onThird();
      return Buffer.concat([bytes.subarray(0, at), wrong, bytes.subarray(at + wrong.length)]);
    };
    network.cut();
    let isAnswered = false;
    connection.ping().then(
      () => (isAnswered = true),
      () => undefined,
    );
    if (password !== '') {
      // By default the client gives up after the second rejection.
      await threeRefusals;
      expect(isAnswered).toBe(false);
    }
    network.onData = () => undefined;
    await answers();
  });

  it('connects as soon as NATS accepts a login that was rejected at startup, and logs the rejection once', async () => {
    const lines = await FaultProxy.start(services.natsUrl);
    const { password } = new URL(services.natsUrl);
    let logins = 0;
    let onThird: () => void;
    const threeRefusals = new Promise<void>((resolve) => (onThird = resolve));
    lines.onData = (bytes) => {
      if (bytes.includes(password) && (logins += 1) === 3) onThird();
      return Buffer.from(bytes.toString('latin1').replace(password, '-'.repeat(password.length)), 'latin1');
    };
    const logged: unknown[] = [];
    const note = (line: unknown): void => void logged.push(line);
    Logger.overrideLogger({ log: note, error: note, warn: note });
    const late = new NatsConnection({ natsUrl: lines.url, name: 'late', invalidations });
    try {
      const opened = late.open();
      await threeRefusals;
      const reason = 'Authorization Violation';
      await expect(late.ping()).rejects.toThrow(password === '' ? 'not connected yet' : reason);
      if (password !== '')
        expect(logged).toEqual([expect.objectContaining({ cause: expect.stringContaining(reason) })]);
      lines.onData = () => undefined;
      await opened;
      await late.ping();
    } finally {
      Logger.overrideLogger(false);
      await late.close();
      await lines.close();
    }
  });

  it('throws for an invalid URL', () => {
    expect(() => new NatsConnection({ natsUrl: '', name: 'test', invalidations })).toThrow('Invalid URL');
  });

  it('rejects a request that is not answered within its timeout', async () => {
    const [impatient, silent] = [
      new NatsConnection({ natsUrl: services.natsUrl, name: 'impatient', timeoutMs: 200, invalidations }),
      await connect(natsOptions(services.natsUrl, 'silent')),
    ];
    try {
      await impatient.open();
      const asked: unknown[] = [];
      silent.subscribe('test.ask', { callback: (_, message) => void asked.push(message.json()) });
      await silent.flush();
      await expect(impatient.request('test.ask', {}, (reply) => reply)).rejects.toBeInstanceOf(
        DependencyUnavailableError,
      );
      await silent.flush();
      expect(asked).toHaveLength(1);
    } finally {
      await Promise.all([impatient.close(), silent.close()]);
    }
  });

  it('stops connecting when it is closed before NATS responds', async () => {
    const port = await freePort();
    const silent = createServer().listen(port, '127.0.0.1');
    await once(silent, 'listening');
    const unanswered = new NatsConnection({
      natsUrl: `nats://127.0.0.1:${port}`,
      name: 'early',
      invalidations,
    });
    const opening = unanswered.open();
    const [socket] = (await once(silent, 'connection')) as [Socket];
    const closing = unanswered.close();
    socket.destroy();
    await closing;
    await opening;
    silent.close();
    await expect(unanswered.ping()).rejects.toBeInstanceOf(DependencyUnavailableError);
  });

  it('is trusted for exactly 5 s after the last answered ping', async () => {
    const now = Date.now();
    clock = () => now;
    await connection.ping();
    clock = () => now + 5_000;
    expect(connection.broadcasts.trusted).toBe(true);
    clock = () => now + 5_001;
    expect(connection.broadcasts.trusted).toBe(false);
  });

  it('rejects a reply that the caller cannot parse', async () => {
    await answers();
    const responder = await connect(natsOptions(services.natsUrl, 'responder'));
    const refuse = () => {
      throw new MalformedMessageError('it is wrong');
    };
    try {
      responder.subscribe('test.reply', {
        callback: (_, message) => void message.respond(JSON.stringify({ response: { a: 1 } })),
      });
      await responder.flush();
      expect(await connection.request('test.reply', {}, (reply) => reply)).toEqual({ a: 1 });
      await expect(connection.request('test.reply', {}, refuse)).rejects.toBeInstanceOf(
        DependencyUnavailableError,
      );
    } finally {
      await responder.close();
    }
  });

  it('reports the tag of a broadcast', async () => {
    await answers();
    const stale: (string | null)[] = [];
    connection.broadcasts.onStale((tag) => stale.push(tag));
    await broadcast({ tag: 'user:7' }, { tag: 'user:8' });
    expect(stale).toEqual(['user:7', 'user:8']);
  });

  it.each([
    ['without its fields', '{}'],
    ['that is not an object', 'null'],
    ['that is not JSON', '{'],
    ['that is too large', JSON.stringify({ tag: 'user:8', more: 'x'.repeat(20_000) })],
  ])('invalidates everything after a broadcast %s', async (_what, payload) => {
    const fresh = new NatsConnection({ natsUrl: services.natsUrl, name: 'fresh', invalidations });
    const stale: (string | null)[] = [];
    fresh.broadcasts.onStale((tag) => stale.push(tag));
    try {
      await fresh.open();
      await broadcast(payload);
      await fresh.ping();
    } finally {
      await fresh.close();
    }
    expect(stale).toEqual([null]);
  });

  it('invalidates everything at most once per 5 s, and defers further invalidations', async () => {
    const flooded = new NatsConnection({ natsUrl: services.natsUrl, name: 'flooded', invalidations });
    const stale: (string | null)[] = [];
    flooded.broadcasts.onStale((tag) => stale.push(tag));
    try {
      await flooded.open();
      const began = performance.now();
      await broadcast(...Array<string>(5_000).fill('{}'));
      await flooded.ping();
      const intervals = Math.floor((performance.now() - began) / 5_000);
      expect(stale.length).toBeGreaterThanOrEqual(1);
      expect(stale.length).toBeLessThanOrEqual(1 + intervals);
      const { length: before } = stale;
      await until('the deferred invalidation has run', 60_000, () => stale.length > before);
      await broadcast({ tag: 'user:9' });
      await flooded.ping();
      expect(stale.slice(before)).toEqual([null, 'user:9']);
    } finally {
      await flooded.close();
    }
  });

  it('is not trusted after the clock has been set back', async () => {
    await answers();
    clock = () => Date.now() - 3_600_000;
    expect(connection.broadcasts.trusted).toBe(false);
    clock = Date.now;
    await answers();
    expect(connection.broadcasts.trusted).toBe(true);
  });
});
