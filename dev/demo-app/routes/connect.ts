import type { FastifyInstance } from 'fastify';
import { Failure, unexpectedAnswer } from '../failure.js';
import { messagePage } from '../page/message-page.js';
import type { Context } from './context.js';

/** "Connect your calendar": to the authorize app, and back with a code. */
export function connectRoutes(app: FastifyInstance, { client, sessions }: Context): void {
  app.post('/connect', async (request, reply) => {
    const session = sessions.open(request, reply);
    sessions.checkForm(session, request);
    const { url, attempt } = await client.begin();
    sessions.addAttempt(session, attempt);
    return reply.redirect(url, 303);
  });

  app.get<{ Querystring: { state?: unknown } }>('/callback', async (request, reply) => {
    const session = sessions.open(request, reply);
    const { state } = request.query;
    // RFC 6749 10.12: only the browser that asked may bring the answer.
    const attempt = typeof state === 'string' ? sessions.takeAttempt(session, state) : undefined;
    // By Back to the page that asked: what is connected stays so, and a new code is not used.
    if (!attempt && session.connection) return reply.redirect('/', 303);
    if (!attempt) throw unexpectedAnswer();
    const query = request.url.slice(request.url.indexOf('?'));
    try {
      const connection = await client.finish(query, attempt);
      Object.assign(sessions.renew(session, reply), { connection });
    } catch (error) {
      if (error instanceof Failure && error.log['error'] === 'access_denied')
        return reply.redirect('/denied', 303);
      throw error;
    }
    return reply.redirect('/', 303);
  });

  app.get('/denied', async (request, reply) => {
    const formToken = sessions.formToken(sessions.open(request, reply));
    return reply.type('text/html; charset=utf-8').send(
      messagePage({
        title: 'You did not connect your calendar',
        text: 'That is fine: nothing was shared with us. You can change your mind at any time.',
        connectAgain: formToken,
      }),
    );
  });
}
