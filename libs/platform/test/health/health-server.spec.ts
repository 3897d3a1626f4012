import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { Readiness, serveHealth } from '#platform/health/readiness.js';

describe('the internal port', () => {
  it('responds to /healthz while dependencies are missing, and with 404 to unknown paths', async () => {
    const server = await serveHealth(new Readiness(['redis']), new Registry(), '127.0.0.1', 0);
    const { port } = server.address() as AddressInfo;
    const answers = ['/healthz', '/readyz', '/health'].map(async (path) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return [answer.status, await answer.json()];
    });
    expect(await Promise.all(answers)).toEqual([
      [200, { status: 'ok' }],
      [503, { status: 'not ready', missing: ['redis'], reasons: { redis: 'not connected yet' } }],
      [404, { status: 'not found' }],
    ]);
    server.close();
  });

  it('waits at most 10 s for a complete request', async () => {
    const server = await serveHealth(new Readiness(), new Registry(), '127.0.0.1', 0);
    expect(server).toMatchObject({ requestTimeout: 10_000, headersTimeout: 10_000 });
    server.close();
  });
});
