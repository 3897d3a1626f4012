import { connect } from '@nats-io/transport-node';
import { natsOptions } from '#messaging/nats.connection.js';

const NAME = 'connections test';

/** Returns the number and name of every connection to this account, closed ones included. Omits its own connection. */
export async function connectionsTo(natsUrl: string): Promise<string[]> {
  const nats = await connect(natsOptions(natsUrl, NAME));
  const request = JSON.stringify({ state: 2 });
  const reply = await nats.request('$SYS.REQ.ACCOUNT.PING.CONNZ', request, { timeout: 5_000 });
  await nats.close();
  const { data } = reply.json<{ data: { connections: { cid: number; name?: string }[] } }>();
  return data.connections.filter(({ name }) => name !== NAME).map(({ cid, name }) => `${cid} ${name}`);
}
