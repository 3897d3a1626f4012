import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { logContext, referenceOf } from './log-context.js';

/**
 * Writes one line for each request: method, path without its query, status, duration and log context. Headers carry
 * credentials and queries carry codes: neither is ever logged.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  const aborted = new WeakSet<IncomingMessage>();
  fastify.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    const level = statusCode >= 500 ? 'error' : 'info';
    if (logger.isLevelEnabled(level) && !aborted.has(request.raw)) {
      const message = statusCode < 400 ? 'answered' : statusCode < 500 ? 'refused' : 'failed';
      const outcome = { res: { statusCode }, responseTime: Math.round(elapsedTime) };
      logger[level]({ ...describe(request), ...outcome }, message);
    }
    done();
  });
  fastify.addHook('onRequestAbort', (request, done) => {
    aborted.add(request.raw);
    logger.info(describe(request), 'aborted');
    done();
  });
}

function describe({ raw, method }: FastifyRequest): Record<string, unknown> {
  return { reference: referenceOf(raw), req: { method, path: pathOf(raw.url ?? '') }, ...logContext(raw) };
}

/** Paths of ours are shorter; a request may have one of 16 KiB. */
const MAX_PATH = 200;

/**
 * The path, decoded, because a credential with an encoded character would not be recognized. A request target has no fragment
 * (RFC 9112 3.2.1), but a client may send one, and it may hold what a query holds.
 */
function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  return (path.includes('%') ? decoded(path) : path).slice(0, MAX_PATH);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
