import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { LOCALES } from '#directory/locale.js';
import { Words } from '../language/words.js';
import { contentSecurityPolicy } from '../page/content-security-policy.js';
import { document } from '../page/document.js';
import { html } from '../page/html.js';
import { PAGE_HEADERS } from '../page/page-headers.js';

const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const WHAT: Readonly<Record<number, string>> = {
  400: 'Your browser’s request did not arrive in a form that we can read.',
  408: 'Your browser’s request did not arrive in time. The connection may be very slow.',
  431: 'The address that brought you here is too long, or your browser keeps too many cookies for this site.',
};

/**
 * Answers what Node could not read as a request (16 KiB of address and headers is its limit). No controller, filter
 * or log line ever sees it, so the page has no reference; nor is its language known, so it is in English.
 */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS[error.code ?? ''] ?? 400;
  const body = page(status);
  const headers = {
    ...PAGE_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': LOCALES[0],
    'Content-Length': Buffer.byteLength(body),
    'Content-Security-Policy': contentSecurityPolicy(),
    Connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
}

function page(status: number): string {
  return document(
    {
      words: new Words(LOCALES[0]),
      title: 'Error: This request does not work',
      content: html`
        <h1>This request does not work</h1>
        <p role="alert">${WHAT[status]}</p>
        <p>Go back to the application you came from and try again. If it happens again, tell its makers.</p>
      `,
    },
    '',
  );
}
