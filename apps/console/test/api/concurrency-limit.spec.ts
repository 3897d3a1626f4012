import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';
import { lastValueFrom, type Observable, of, Subject } from 'rxjs';
import { ConcurrencyLimitInterceptor, RunningReports } from '../../src/concurrency-limit.interceptor.js';

const server = createServer();
const sent: ReturnType<typeof request>[] = [];

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));

afterAll(() => {
  for (const open of sent) open.destroy();
  server.close();
});

/** Sends a request. @returns the server's response, and a function that disconnects the client */
async function received(): Promise<{ raw: ServerResponse; disconnect: () => Promise<unknown> }> {
  const { port } = server.address() as AddressInfo;
  const client = request({ host: '127.0.0.1', port, agent: false }).on('error', () => undefined);
  sent.push(client);
  client.end();
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse];
  const disconnect = (): Promise<unknown> => {
    const closed = once(raw, 'close');
    client.destroy();
    return closed;
  };
  return { raw, disconnect };
}

function reports(running = new RunningReports()) {
  const limit = new ConcurrencyLimitInterceptor(running);
  const query = { operator: { identity: { subject: '1' } } };
  return (raw: ServerResponse, work: Observable<unknown> = of('report')) => {
    const context = {
      switchToHttp: () => ({ getRequest: () => query, getResponse: () => ({ raw }) }),
    } as unknown as ExecutionContext;
    return lastValueFrom(limit.intercept(context, { handle: () => work }));
  };
}

describe('ConcurrencyLimitInterceptor', () => {
  it('refuses a fifth report while four reports are being sent', async () => {
    const report = reports();
    const responses = [];
    for (let n = 0; n < 4; n++) {
      const { raw } = await received();
      responses.push(raw);
      expect(await report(raw)).toBe('report');
    }
    const { raw } = await received();
    expect(() => report(raw)).toThrow('reports of yours are running');
    const [first] = responses;
    first?.end();
    await once(first as ServerResponse, 'close');
    await new Promise(setImmediate);
    expect(await report(raw)).toBe('report');
  });

  it('does not count reports whose client disconnected before the start', async () => {
    const report = reports();
    for (let n = 0; n < 10; n++) {
      const { raw, disconnect } = await received();
      await disconnect();
      expect(await report(raw)).toBe('report');
      await new Promise(setImmediate);
    }
  });

  it('counts reports that continue after their client has disconnected', async () => {
    const report = reports();
    const work = new Subject();
    const results = [];
    for (let n = 0; n < 4; n++) {
      const { raw, disconnect } = await received();
      results.push(report(raw, work));
      await disconnect();
    }
    await new Promise(setImmediate);
    const { raw } = await received();
    expect(() => report(raw)).toThrow('reports of yours are running');
    work.next('report');
    work.complete();
    await Promise.all(results);
    await new Promise(setImmediate);
    expect(await report(raw)).toBe('report');
  });

  it('counts the reports of all modules together', async () => {
    const running = new RunningReports();
    const { raw } = await received();
    for (let n = 0; n < 4; n++) expect(await reports(running)(raw)).toBe('report');
    expect(() => reports(running)(raw)).toThrow('reports of yours are running');
  });
});
