import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addAuditEvent } from '#audit/request-events.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { SessionCookie } from '../session/session.service.js';
import { LanguageService } from '../ui/i18n/language.service.js';
import { PageResponder } from '../ui/page.responder.js';
import type { FinishedLogin } from './external-login.service.js';

@Injectable()
export class LoginResponder {
  constructor(
    private readonly sessionCookie: SessionCookie,
    private readonly language: LanguageService,
    private readonly pages: PageResponder,
  ) {}

  finish({ raw, headers }: FastifyRequest, reply: FastifyReply, { location, login }: FinishedLogin): void {
    if (login) {
      const { user, cookie } = login;
      addLogContext(raw, { user_id: user.id, outcome: 'logged in' });
      addAuditEvent(raw, 'login.succeeded');
      const language = this.language.remember(headers.cookie, user.locale);
      reply.header('Set-Cookie', [this.sessionCookie.set(cookie), ...language]);
    } else {
      addLogContext(raw, { outcome: 'returned again' });
    }
    this.pages.seeOther(reply, location);
  }
}
