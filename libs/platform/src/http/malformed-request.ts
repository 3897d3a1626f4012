import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { UNREAD_BODY_MS } from './request-hooks.js';

/** 400 for invalid HTTP, 408 for an incomplete request (RFC 9110 15.5.9), 431 for long headers (RFC 6585 5). */
export type MalformedRequestStatus = 400 | 408 | 431;

export interface MalformedRequestResponse {
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
 * Responds to requests that Node cannot read. Except for requests with a slow body, they reach no hook, controller,
 * filter or log. The connection stays open for up to a second, because an immediate reset could lose the response
 * (RFC 9112 9.6).
 */
export function answerMalformedRequests(
  { server }: FastifyInstance,
  answer: (status: MalformedRequestStatus) => MalformedRequestResponse = jsonAnswer,
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
    // Node does not limit a connection after a timeout, so a client could otherwise keep the connection open forever.
    setTimeout(() => socket.destroy(), UNREAD_BODY_MS).unref();
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  });
}

function jsonAnswer(status: MalformedRequestStatus): MalformedRequestResponse {
  return {
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    body: JSON.stringify({ error: 'invalid_request', error_description: DESCRIPTION[status] }),
  };
}
