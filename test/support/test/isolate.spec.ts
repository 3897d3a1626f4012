import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { type Isolated, isolate } from '../isolate.js';
import { withDatabase } from '../test-database.js';

describe('isolate', () => {
  let first: Isolated;
  let second: Isolated;

  beforeAll(async () => {
    [first, second] = await Promise.all([isolate(), isolate()]);
  });

  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
  });

  it('gives each caller a private database', async () => {
    await query(first.databaseUrl, 'CREATE TABLE only_here (n int)');
    await expect(query(second.databaseUrl, 'SELECT * FROM only_here')).rejects.toThrow('does not exist');
  });

  it('gives each caller a private, empty Redis database', async () => {
    const [a, b] = [new Redis(first.redisUrl), new Redis(second.redisUrl)];
    expect(await a.dbsize()).toBe(0);
    await a.set('key', 'value');
    expect(await b.get('key')).toBeNull();
    a.disconnect();
    b.disconnect();
  });

  it('gives each caller private NATS subjects', async () => {
    const [a, b] = await Promise.all([natsConnection(first.natsUrl), natsConnection(second.natsUrl)]);
    const seen: string[] = [];
    b.subscribe('news', { callback: (_, message) => void seen.push(message.string()) });
    await b.flush();
    a.publish('news', 'from the first');
    await a.flush();
    b.publish('news', 'from the second');
    await b.flush();
    expect(seen).toEqual(['from the second']);
    await Promise.all([a.close(), b.close()]);
  });

  it('deletes the data of a caller who closes the services', async () => {
    const closed = await isolate();
    const client = new Redis(closed.redisUrl);
    await client.set('key', 'value');
    await closed.close();
    expect(await client.dbsize()).toBe(0);
    client.disconnect();
    await expect(query(closed.databaseUrl, 'SELECT 1')).rejects.toThrow('does not exist');
  });
});

async function query(url: string, statement: string): Promise<void> {
  await withDatabase(url, (client) => client.query(statement));
}

function natsConnection(url: string): ReturnType<typeof connect> {
  const { host, protocol, username, password } = new URL(url);
  return connect({ servers: `${protocol}//${host}`, user: username, pass: password });
}
