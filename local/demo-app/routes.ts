import type { CalendarClient } from './calendar-client.js';
import type { Connection, Person, Session, Sessions } from './sessions.js';
import type { FastifyInstance } from 'fastify';
import { Failure, unexpectedAnswer } from './failure.js';
import { connectedPage, disconnectedPage, messagePage, startPage } from './pages.js';

interface Context {
  client: CalendarClient;
  sessions: Sessions;
}

/**
 * Redirects pages to the registered host, because authorization responses arrive there, and cookies are per host.
 */
export function sendHome(app: FastifyInstance, origin: string): void {
  const { host } = new URL(origin);
  app.addHook('onRequest', async (request, reply) => {
    const isPage = request.method === 'GET' || request.method === 'HEAD';
    if (isPage && request.host !== host && request.url.startsWith('/'))
      await reply.redirect(origin + request.url, 307);
  });
}

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
    // Keeps the connection and ignores a repeated or unknown response, for example of a user who went back to the
    // consent page.
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
        csrfToken: formToken,
      }),
    );
  });
}

export function connectionRoutes(app: FastifyInstance, context: Context): void {
  const { client, sessions } = context;

  app.get('/', async (request, reply) => {
    const session = sessions.open(request, reply);
    const formToken = sessions.formToken(session);
    const person = session.connection && (await owner(client, session));
    if (person) session.userId = person.id;
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
    // Discards the tokens even if the revocation fails.
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

  app.get<{ Params: { outcome: string } }>('/disconnected/:outcome', async (request, reply) => {
    const page = disconnectedPage(request.params.outcome);
    return page === undefined ? reply.callNotFound() : reply.type('text/html; charset=utf-8').send(page);
  });
}

/** Returns the profile of the user, or null without a connection. Refreshes a rejected token once. @throws Failure */
async function owner(client: CalendarClient, session: Session): Promise<Person | null> {
  if (!session.connection) return null;
  const person = (await client.me(session.connection)) ?? (await client.me(await refresh(client, session)));
  if (person) return person;
  throw new Failure(502, {
    title: 'Scheduling rejected our request',
    text: 'Scheduling did not accept a new token. Please try again in a moment.',
  });
}

/** Shares one refresh between concurrent requests. Deletes the connection if the grant has ended. @throws Failure */
async function refresh(client: CalendarClient, session: Session): Promise<Connection> {
  session.refreshing ??= exchange(client, session).finally(() => delete session.refreshing);
  return session.refreshing;
}

async function exchange(client: CalendarClient, session: Session): Promise<Connection> {
  const used = session.connection;
  if (!used) throw new Error('nothing is connected');
  try {
    const next = await client.refresh(used);
    // Does not store the new tokens if the user has disconnected in the meantime.
    if (session.connection === used) session.connection = next;
    return next;
  } catch (error) {
    if (error instanceof Failure && error.log['error'] === 'invalid_grant') delete session.connection;
    throw error;
  }
}
