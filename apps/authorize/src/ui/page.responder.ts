import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { contentSecurityPolicy } from './content-security-policy.js';
import { document, type Page } from './document.js';

/** Sends pages and redirects as every controller and the error filter do. */
@Injectable()
export class PageResponder {
  constructor(private readonly configuration: AuthorizeConfiguration) {}

  page(reply: FastifyReply, status: number, page: Page): void {
    void reply
      .status(status)
      .header('Content-Security-Policy', contentSecurityPolicy(page))
      .header('Content-Language', page.words.locale)
      .type('text/html; charset=utf-8')
      .send(document(page, this.configuration.PRODUCT_NAME));
  }

  /** 303: the browser goes on with GET, and a password or a decision is not sent on (RFC 9700 4.12). */
  seeOther(reply: FastifyReply, location: string): void {
    void reply.status(303).header('Location', location).send();
  }
}
