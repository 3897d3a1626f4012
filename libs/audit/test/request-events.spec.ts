import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import fastify from 'fastify';
import { RequestObservers } from '#platform/http/request-hooks.js';
import type { AuditRecord } from '../src/event.js';
import { addAuditEvent, callerOf, keepAddresses, requestEvents } from '../src/request-events.js';

describe('the record of a request', () => {
  it('contains the address of a client that closed the connection before the response', async () => {
    const server = fastify();
    const observers = new RequestObservers();
    const recorded = new Promise<AuditRecord>((record) => observers.add(requestEvents({ record }, callerOf)));
    observers.observe(server);
    keepAddresses(server);
    const handling = new Promise<void>((begin) =>
      server.get('/', async ({ raw }) => {
        addAuditEvent(raw, 'token.refreshed');
        begin();
        await once(raw.socket, 'close');
        return 'too late';
      }),
    );
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: aborted/1\r\n\r\n');
    await handling;
    socket.destroy();
    expect(await recorded).toMatchObject({ address: '127.0.0.1', user_agent: 'aborted/1' });
    await server.close();
  });
});
