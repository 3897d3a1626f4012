import { createServer, type Server } from 'node:http';
import type { Readiness } from './readiness.js';

/**
 * Serves the internal port: `/healthz` is 200 as long as the process runs, `/readyz` 200 or 503 with the names of
 * the missing dependencies; `start` as long as the process has not come so far as to ask them.
 */
export async function serveHealth(
  readiness: () => Readiness | undefined,
  host: string,
  port: number,
): Promise<Server> {
  const server = createServer((request, response) => {
    void answer(request.url, readiness()).then(([status, body]) => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return server;
}

async function answer(
  path: string | undefined,
  readiness: Readiness | undefined,
): Promise<[status: number, body: object]> {
  if (path === '/healthz') return [200, { status: 'ok' }];
  if (path !== '/readyz') return [404, { status: 'not found' }];
  const missing = readiness ? await readiness.missing() : ['start'];
  return missing.length === 0 ? [200, { status: 'ready' }] : [503, { status: 'not ready', missing }];
}
