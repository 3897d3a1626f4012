import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { connect, type Msg, type NatsConnection as NatsClient } from '@nats-io/transport-node';
import { DependencyUnavailableError } from '#platform/errors.js';
import { NatsConnection, natsOptions } from '#messaging/nats.connection.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { type Isolated, isolate } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';

/** Timeout of requests, longer than any outage here, so that a request times out only if the client dropped it. */
const LONG_MS = 60_000;
const MAX_WAITING = 2_000;

let services: Isolated;
let network: FaultProxy;
let responder: NatsClient;
let connection: NatsConnection;
let received: Msg[];
let answered: boolean;

const newConnection = (timeoutMs: number) =>
  new NatsConnection({ natsUrl: network.url, name: 'test', timeoutMs, invalidations: {} });

const reply = (message: Msg) => message.respond(JSON.stringify({ response: { n: received.length } }));

beforeEach(async () => {
  services = await isolate();
  network = await FaultProxy.start(services.natsUrl);
  responder = await connect(natsOptions(services.natsUrl, 'responder'));
  [received, answered] = [[], true];
  responder.subscribe('test.ask', {
    callback: (_, message) => {
      received.push(message);
      if (answered) reply(message);
    },
  });
  await responder.flush();
  connection = newConnection(LONG_MS);
  await connection.open();
});

afterEach(async () => {
  await Promise.all([connection.close(), responder.close()]);
  await network.close();
  await services.close();
});

const ask = (from = connection, isRepeatable = false): Promise<unknown> =>
  from.request('test.ask', {}, (answer) => answer, { isRepeatable });

async function disconnect(from = connection): Promise<void> {
  network.disconnect();
  await until('the connection is lost', LONG_MS, () =>
    from.ping().then(
      () => false,
      () => true,
    ),
  );
  await turn();
}

function reconnect(): void {
  network.reconnect();
}

/** Resolves to 'held' if the request is still pending at the next turn of the event loop. */
const stateOf = (request: Promise<unknown>): Promise<unknown> =>
  Promise.race([request.catch((error: unknown) => error), turn('held')]);

describe('a request over a lost connection to NATS', () => {
  it('is sent after the reconnection', async () => {
    await disconnect();
    const request = ask();
    expect(await stateOf(request)).toBe('held');
    reconnect();
    expect(await request).toEqual({ n: 1 });
  });

  // @reliability nats-short
  it('is sent again if it is repeatable and its reply was lost', async () => {
    answered = false;
    const request = ask(connection, true);
    await until('the request has arrived', LONG_MS, () => received.length === 1);
    await disconnect();
    expect(await stateOf(request)).toBe('held');
    answered = true;
    reconnect();
    expect(await request).toEqual({ n: 2 });
  });

  // @reliability nats-short
  it('fails without a retry if it is not repeatable and its reply was lost', async () => {
    answered = false;
    const request = ask();
    const refused = expect(request).rejects.toThrow('the connection was lost');
    await until('the request has arrived', LONG_MS, () => received.length === 1);
    await disconnect();
    await refused;
    answered = true;
    reconnect();
    expect(await ask()).toEqual({ n: 2 });
  });

  // @reliability nats-long
  it('fails at its timeout, or immediately if the outage has lasted longer than the timeout', async () => {
    const impatient = newConnection(300);
    await impatient.open();
    try {
      await disconnect(impatient);
      await expect(ask(impatient)).rejects.toBeInstanceOf(DependencyUnavailableError);
      await until(
        'the outage is longer than the timeout',
        LONG_MS,
        async () => (await stateOf(ask(impatient))) !== 'held',
      );
      expect(await stateOf(ask(impatient))).toBeInstanceOf(DependencyUnavailableError);
      reconnect();
      await until('requests are sent again', LONG_MS, () =>
        ask(impatient).then(
          () => true,
          () => false,
        ),
      );
    } finally {
      await impatient.close();
    }
  });

  it('fails immediately when 2,000 other requests are held', async () => {
    await disconnect();
    const requests = Array.from({ length: MAX_WAITING }, () => ask());
    expect(await stateOf(ask())).toBeInstanceOf(DependencyUnavailableError);
    expect(await stateOf(Promise.any(requests))).toBe('held');
    reconnect();
    expect(await Promise.all(requests)).toHaveLength(MAX_WAITING);
    expect(await ask()).toEqual({ n: MAX_WAITING + 1 });
  });

  it('fails when the connection is closed', async () => {
    await disconnect();
    const refused = expect(ask()).rejects.toThrow('the connection is closed');
    await turn();
    await connection.close();
    await refused;
    expect(await stateOf(ask())).toBeInstanceOf(DependencyUnavailableError);
  });
});

describe('a request over NATS without a responder', () => {
  it('waits for a responder to reconnect', async () => {
    await ask();
    const request = connection.request('test.late', {}, (answer) => answer);
    // After the pong, NATS has reported that the subject has no responders.
    await connection.ping();
    responder.subscribe('test.late', { callback: (_, message) => void reply(message) });
    expect(await request).toEqual({ n: 1 });
  });

  it('fails immediately if no reply to any request has arrived for the length of a timeout', async () => {
    const impatient = newConnection(300);
    await impatient.open();
    try {
      await sleep(300);
      const refused = impatient.request('test.unanswered', {}, (answer) => answer);
      await expect(refused).rejects.toThrow('nothing responds to test.unanswered');
    } finally {
      await impatient.close();
    }
  });
});
