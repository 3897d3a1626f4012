import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  answerUnreadable,
  type UnreadableAnswer,
  type UnreadableStatus,
} from '#platform/http/answer-unreadable.js';
import { unreadableRequestPage } from './errors/error.page.js';
import { LanguageService } from './i18n/language.service.js';
import { contentSecurityPolicy, PAGE_HEADERS } from './page-headers.js';
import { documentOf, PageResponder } from './page.responder.js';
import { ScriptController } from './script.controller.js';

/** Pages in the user's language, and what every response to a browser has in common. */
@Module({
  controllers: [ScriptController],
  providers: [LanguageService, PageResponder],
  exports: [LanguageService, PageResponder],
})
export class UiModule implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost<FastifyAdapter>) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance();
    answerUnreadable(fastify, unreadableAnswer);
    // Pages post forms only. Without this type no other site's script can send a body that needs no preflight.
    fastify.removeContentTypeParser('application/json');
    fastify.addHook('onSend', async (_request, { raw }) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) raw.setHeader(name, value);
    });
  }
}

function unreadableAnswer(status: UnreadableStatus): UnreadableAnswer {
  const page = unreadableRequestPage(status);
  return {
    headers: {
      ...PAGE_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': page.translator.locale,
      'Content-Security-Policy': contentSecurityPolicy(page),
    },
    body: documentOf(page, ''),
  };
}
