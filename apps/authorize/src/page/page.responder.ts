import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { document, type Page } from './document.js';
import { STYLESHEET_SOURCE } from './stylesheet.js';

/** Sends pages and redirects as every controller and the error filter do. */
@Injectable()
export class PageResponder {
  page(reply: FastifyReply, status: number, page: Page): void {
    void reply
      .status(status)
      .header('Content-Security-Policy', contentSecurityPolicy(page.formTargets))
      .type('text/html; charset=utf-8')
      .send(document(page));
  }

  /** 303: the browser goes on with GET, and a password or a decision is not sent on (RFC 9700 4.12). */
  seeOther(reply: FastifyReply, location: string): void {
    void reply.status(303).header('Location', location).send();
  }
}

/** What a page may load and where its forms may lead: its own style, and this site. */
export function contentSecurityPolicy(formTargets: readonly string[] = []): string {
  return [
    "default-src 'none'",
    `style-src ${STYLESHEET_SOURCE}`,
    "img-src 'self'",
    ["form-action 'self'", ...formTargets].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
