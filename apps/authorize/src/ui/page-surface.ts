import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { answerUnreadable } from '#platform/http/answer-unreadable.js';
import { unreadablePage } from './errors/unreadable-request.js';
import { PAGE_HEADERS } from './page-headers.js';

/** What this app's answers have besides those of the other apps, because people see them in a browser. */
@Injectable()
export class PageSurface implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost<FastifyAdapter>) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance();
    answerUnreadable(fastify, unreadablePage);
    // Pages post forms. Refusing everything else leaves other sites' scripts no type to try without a preflight.
    fastify.removeContentTypeParser('application/json');
    fastify.addHook('onSend', async (_request, { raw }) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) raw.setHeader(name, value);
    });
  }
}
