import { Registry } from 'prom-client';
import { serveHealth } from '#platform/health/health-server.js';
import { Readiness } from '#platform/health/readiness.js';

it('the internal port waits at most 10 s for the rest of a request', async () => {
  const server = await serveHealth(new Readiness(), new Registry(), '127.0.0.1', 0);
  expect(server).toMatchObject({ requestTimeout: 10_000, headersTimeout: 10_000 });
  server.close();
});
