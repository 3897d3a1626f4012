import type { FastifyInstance } from 'fastify';
import { Failure } from '../failure.js';
import { connectedPage } from '../page/connected-page.js';
import { disconnectedPage } from '../page/disconnected-page.js';
import { startPage } from '../page/start-page.js';
import { owner, refresh } from './use-connection.js';
import type { Context } from './context.js';

/** The connected calendar: its page, refresh and disconnect. */
export function connectionRoutes(app: FastifyInstance, context: Context): void {
  const { client, sessions } = context;

  app.get('/', async (request, reply) => {
    const session = sessions.open(request, reply);
    const formToken = sessions.formToken(session);
    const person = session.connection && (await owner(client, session));
    const page =
      session.connection && person
        ? connectedPage({ person, connection: session.connection, formToken })
        : startPage({ formToken });
    return reply.type('text/html; charset=utf-8').send(page);
  });

  app.post('/refresh', async (request, reply) => {
    const session = sessions.open(request, reply);
    sessions.checkForm(session, request);
    if (session.connection) await refresh(client, session);
    return reply.redirect('/', 303);
  });

  app.post('/disconnect', async (request, reply) => {
    const session = sessions.open(request, reply);
    sessions.checkForm(session, request);
    const { connection } = session;
    // Removed first: whatever the server answers, the application does not use the tokens again.
    delete session.connection;
    if (!connection) return reply.redirect('/', 303);
    try {
      await client.revoke(connection);
      return reply.redirect('/disconnected/revoked', 303);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      request.log.warn(error.log, 'the permission could not be revoked');
      return reply.redirect(error.status === 404 ? '/disconnected/forgotten' : '/disconnected/unsure', 303);
    }
  });

  app.get<{ Params: { how: string } }>('/disconnected/:how', async (request, reply) => {
    const page = disconnectedPage(request.params.how);
    return page === undefined ? reply.callNotFound() : reply.type('text/html; charset=utf-8').send(page);
  });
}
