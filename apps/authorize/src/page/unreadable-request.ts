import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { document } from './document.js';
import { html } from './html.js';
import { contentSecurityPolicy } from './page.responder.js';

const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers what Node could not read as a request (16 KiB of address and headers is its limit). No controller, filter
 * or log line ever sees it, so the page has no reference.
 */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS[error.code ?? ''] ?? 400;
  const body = page(status);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/html; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Content-Security-Policy: ${contentSecurityPolicy()}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function page(status: number): string {
  const what =
    status === 431
      ? 'The address that brought you here is too long, or your browser keeps too many cookies for this site.'
      : 'Your browser’s request did not arrive in a form that we can read.';
  return document({
    title: 'This request does not work',
    content: html`
      <h1>This request does not work</h1>
      <p role="alert">${what}</p>
      <p>Go back to the application you came from and try again. If it happens again, tell its makers.</p>
    `,
  });
}
