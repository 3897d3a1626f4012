import type { FastifyInstance } from 'fastify';
import { RefusedRequestError } from './refused-request.js';

/**
 * RFC 9112 3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks a
 * Host header field and to any request message that contains more than one Host header field line". Node uses the first of
 * several, but a proxy may use the last. Closes the connection, because a proxy that disagrees about the host may also
 * disagree about where the request ends (request smuggling).
 */
export function requireHost(fastify: FastifyInstance): void {
  // Node hides what follows the thousandth header, a second Host too. Headers are limited to 16 KiB in total.
  fastify.server.maxHeadersCount = 0;
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    const hosts = countHosts(raw.rawHeaders);
    if (hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0')) {
      done();
      return;
    }
    void reply.header('Connection', 'close');
    done(
      new RefusedRequestError(400, 'the request must have one Host header', {
        detail: { check: 'host', hosts },
      }),
    );
  });
}

/** @param headers names and values in turn, as they were sent */
function countHosts(headers: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** Longer than a busy machine keeps a process waiting for its turn; shorter than the retry window of a refresh token. */
export const STALL_MS = 5_000;
const CHECK_MS = 500;
/** Until the requests that arrived during the stall have been read. */
const CATCH_UP_MS = 1_000;
const STALLED = { headers: { 'Retry-After': '1' }, detail: { check: 'process stood still' } };

/**
 * Refuses requests that waited while the event loop stood still: the process was stopped by a signal, frozen with its
 * container, or starved of CPU. Their clients have given up and repeated them at another instance. A refresh carried out this
 * late looks like reuse of its token if the repetition was answered (RFC 9700 4.14.2), and would revoke the grant.
 *
 * @param now milliseconds of a monotonic clock
 */
export function refuseAfterStall(
  fastify: Pick<FastifyInstance, 'addHook'>,
  now: () => number = () => performance.now(),
): void {
  let lastTurn = now();
  let refuseUntil = 0;
  const detectStall = (): number => {
    const time = now();
    if (time - lastTurn > STALL_MS) refuseUntil = time + CATCH_UP_MS;
    lastTurn = time;
    return time;
  };
  const timer = setInterval(detectStall, CHECK_MS).unref();
  fastify.addHook('onClose', async () => clearInterval(timer));
  fastify.addHook('onRequest', (_request, _reply, done) => {
    // After a stall either the timer or a request runs first.
    const stalled = detectStall() < refuseUntil;
    done(stalled ? new RefusedRequestError(503, 'the process stood still', STALLED) : undefined);
  });
}
