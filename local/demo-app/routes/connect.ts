import type { FastifyInstance } from 'fastify';
import { Failure, unexpectedAnswer } from '../failure.js';
import { messagePage } from '../page/message-page.js';
import type { Context } from './context.js';

/** "Connect your calendar": redirects to the authorize app, and receives the code. */
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
    // RFC 6749 10.12: the response must belong to a request of this browser.
    const attempt = typeof state === 'string' ? sessions.takeAttempt(session, state) : undefined;
    // After Back and a second Allow: the connection stays, and the new code is not used.
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
        title: 'Your calendar is not connected',
        text: 'You did not allow access. You can connect at any time.',
        connectAgain: formToken,
      }),
    );
  });
}
