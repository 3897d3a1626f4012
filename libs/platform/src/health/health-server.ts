import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import type { Readiness } from './readiness.js';

/** Same limits as on the public port. By default, Node waits five minutes for a request. */
const LIMITS = { requestTimeout: 10_000, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 };

/**
 * Serves the internal port: `/healthz`, `/readyz` (503 with the missing dependencies and the reasons), and `/metrics`
 * for Prometheus.
 */
export async function serveHealth(
  readiness: Readiness,
  metrics: Registry,
  host: string,
  port: number,
): Promise<Server> {
  const server = createServer(LIMITS, (request, response) => {
    answer(request.url, readiness, metrics).then(
      ([status, type, body]) => send(response, status, type, body),
      () => send(response, 500, 'text/plain', ''),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return server;
}

type Answer = [status: number, type: string, body: string];

async function answer(path: string | undefined, readiness: Readiness, metrics: Registry): Promise<Answer> {
  switch (path) {
    case '/healthz':
      return json(200, { status: 'ok' });
    case '/readyz': {
      const missing = await readiness.missing();
      return missing.size === 0
        ? json(200, { status: 'ready' })
        : json(503, {
            status: 'not ready',
            missing: [...missing.keys()],
            reasons: Object.fromEntries(missing),
          });
    }
    case '/metrics':
      return [200, metrics.contentType, await metrics.metrics()];
    default:
      return json(404, { status: 'not found' });
  }
}

function json(status: number, body: object): Answer {
  return [status, 'application/json', JSON.stringify(body)];
}

function send(response: ServerResponse, ...[status, type, body]: Answer): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
