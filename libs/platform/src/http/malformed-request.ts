import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { UNREAD_BODY_MS } from './request-hooks.js';

/** Not HTTP; not complete in time (RFC 9110 15.5.9); or the header section is too long (RFC 6585 5). */
export type MalformedRequestStatus = 400 | 408 | 431;

export interface MalformedRequestAnswer {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

const STATUS: Readonly<Record<string, MalformedRequestStatus>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const DESCRIPTION: Readonly<Record<MalformedRequestStatus, string>> = {
  400: 'the request is malformed',
  408: 'the request did not arrive in time, repeat it',
  431: 'the request line and headers are larger than 16 KiB',
};

/**
 * Answers what Node could not parse as a request. No hook, controller or filter sees it, so it is not logged and its error has
 * no reference. The connection closes after the answer, but only when the client has stopped sending or a second later,
 * because a reset could lose the answer (RFC 9112 9.6).
 */
export function answerMalformedRequests(
  { server }: FastifyInstance,
  answer: (status: MalformedRequestStatus) => MalformedRequestAnswer = jsonAnswer,
): void {
  server.removeAllListeners('clientError').on('clientError', (error, socket: Duplex) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = STATUS[code] ?? 400;
    const { headers, body } = answer(status);
    const lines = Object.entries({
      ...headers,
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    }).map(([name, value]) => `${name}: ${value}`);
    // Node no longer watches a connection that timed out: a client that keeps its side open would keep it for ever.
    setTimeout(() => socket.destroy(), UNREAD_BODY_MS).unref();
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** In the shape of RFC 6749 5.2. */
function jsonAnswer(status: MalformedRequestStatus): MalformedRequestAnswer {
  return {
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    body: JSON.stringify({ error: 'invalid_request', error_description: DESCRIPTION[status] }),
  };
}
