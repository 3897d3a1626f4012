import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { addAuditEvent } from '#audit/request-events.js';
import { addLogContext } from '#platform/logging/request-log.js';
import type { PageResponder } from '../ui/page.responder.js';
import type { LoginRedirect } from './external-login.service.js';

export function sendFinishedLogin(
  request: IncomingMessage,
  reply: FastifyReply,
  pages: PageResponder,
  { location, cookies, userId }: LoginRedirect,
): void {
  addLogContext(
    request,
    userId === null ? { outcome: 'returned again' } : { user_id: userId, outcome: 'logged in' },
  );
  if (userId !== null) addAuditEvent(request, 'login.succeeded');
  reply.header('Set-Cookie', cookies);
  pages.seeOther(reply, location);
}
