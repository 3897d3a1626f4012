import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { LINGER_MS } from './linger.js';

/** What came is no HTTP, did not arrive in time (RFC 9110 15.5.9), or has too long a head (RFC 6585 5). */
export type UnreadableStatus = 400 | 408 | 431;

export interface UnreadableAnswer {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

const STATUS: Readonly<Record<string, UnreadableStatus>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const DESCRIPTION: Readonly<Record<UnreadableStatus, string>> = {
  400: 'the request is malformed',
  408: 'the request did not arrive in time, repeat it',
  431: 'the request line and headers are larger than 16 KiB',
};

/**
 * Answers what Node could not read as a request: no controller, filter or log line ever sees it, so its error has no
 * reference. The connection ends with the answer, and with what the client still sends, as a reset could lose the answer
 * (RFC 9112 9.6); a moment later in any case.
 */
export function answerUnreadable(
  { server }: FastifyInstance,
  answer: (status: UnreadableStatus) => UnreadableAnswer = oauthError,
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
    // Node has forgotten a connection that it timed out: a client that keeps its half open would keep it for ever.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** RFC 6749 5.2. */
function oauthError(status: UnreadableStatus): UnreadableAnswer {
  return {
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    body: JSON.stringify({ error: 'invalid_request', error_description: DESCRIPTION[status] }),
  };
}
