import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { natsOptions } from '#platform/nats/nats-options.js';
import { TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { IntrospectionUnavailableError } from '#platform/nats/unavailable.error.js';
import { Interposer } from '#testing/interposer.js';
import { type Isolated, isolate } from '#testing/isolate.js';
import { until } from '#testing/topology/until.js';

describe('the connection to NATS', () => {
  let services: Isolated;
  let network: Interposer;
  let connection: TokenServiceConnection;

  beforeAll(async () => {
    services = await isolate();
    network = await Interposer.to(services.natsUrl);
    connection = new TokenServiceConnection(network.url, 'test');
    await connection.open();
  });

  afterAll(async () => {
    await connection.close();
    network.close();
    await services.close();
  });

  /** Resolves when NATS answers. An echo that was lost with its connection never comes: another one is asked for. */
  const answers = () =>
    until('NATS answers', 60_000, () =>
      Promise.race([connection.ping().then(() => true), sleep(2_000, false, { ref: false })]),
    );

  it('comes back by itself when NATS has refused its login for a while', async () => {
    await answers();
    const { password } = new URL(services.natsUrl);
    const wrong = Buffer.from(password.replaceAll(/./g, '-'));
    let refusals = 0;
    let enough: () => void;
    const refusedThrice = new Promise<void>((resolve) => (enough = resolve));
    network.alter = (bytes) => {
      const at = bytes.indexOf(password);
      if (password === '' || at < 0) return bytes;
      refusals += 1;
      if (refusals === 3) enough();
      return Buffer.concat([bytes.subarray(0, at), wrong, bytes.subarray(at + wrong.length)]);
    };
    network.cut();
    let isAnswered = false;
    connection.ping().then(
      () => (isAnswered = true),
      () => undefined,
    );
    if (password !== '') {
      // A client that takes a refusal for final gives up at the second.
      await refusedThrice;
      expect(isAnswered).toBe(false);
    }
    network.alter = (bytes) => bytes;
    await answers();
  });

  it('gives up a request that is not answered in the time that it is given', async () => {
    const [hasty, silent] = [
      new TokenServiceConnection(services.natsUrl, 'hasty', 200),
      await connect(natsOptions(services.natsUrl, 'silent')),
    ];
    try {
      await hasty.open();
      const asked: unknown[] = [];
      silent.subscribe('oauth.token.introspect', {
        callback: (_, message) => void asked.push(message.json()),
      });
      await silent.flush();
      await expect(hasty.request('oauth.token.introspect', {})).rejects.toBeInstanceOf(
        IntrospectionUnavailableError,
      );
      await silent.flush();
      expect(asked).toHaveLength(1);
    } finally {
      await Promise.all([hasty.close(), silent.close()]);
    }
  });

  it('is trusted for 5 s after it asked for the last echo, and no longer', async () => {
    const now = Date.now();
    const clock = Date.now;
    try {
      Date.now = () => now;
      await connection.ping();
      Date.now = () => now + 5_000;
      expect(connection.trusted).toBe(true);
      Date.now = () => now + 5_001;
      expect(connection.trusted).toBe(false);
    } finally {
      Date.now = clock;
    }
  });

  it('tells what a broadcast made stale, and of one that it cannot read that anything may be', async () => {
    await answers();
    const stale: (string | null)[] = [];
    connection.onStale((tag) => stale.push(tag));
    const other = await connect(natsOptions(services.natsUrl, 'other'));
    const id = 'g'.repeat(43);
    try {
      for (const [subject, payload] of [
        ['oauth.grant.revoked', { grant_id: id }],
        ['oauth.client.changed', { client_id: 'sc_a' }],
        ['oauth.user.changed', { user_id: 7 }],
        ['oauth.grant.revoked', {}],
        ['oauth.grant.revoked', null],
        ['oauth.client.changed', { client_id: 7 }],
        ['oauth.user.changed', { user_id: '7' }],
        ['oauth.user.changed', { user_id: 7, more: 'x'.repeat(20_000) }],
      ] as const)
        other.publish(subject, JSON.stringify(payload));
      other.publish('oauth.grant.revoked', '{');
      await other.flush();
      await connection.ping();
    } finally {
      await other.close();
    }
    expect(stale).toEqual([`grant:${id}`, 'client:sc_a', 'user:7', null, null, null, null, null, null]);
  });

  it('is not trusted for longer because the clock was set back', async () => {
    await answers();
    const now = Date.now;
    try {
      Date.now = () => now() - 3_600_000;
      expect(connection.trusted).toBe(false);
    } finally {
      Date.now = now;
    }
    await answers();
    expect(connection.trusted).toBe(true);
  });
});
