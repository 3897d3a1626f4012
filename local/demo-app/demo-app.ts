import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { CalendarClient } from './calendar-client.js';
import type { DemoConfiguration } from './demo.configuration.js';
import { eventRoutes } from './events.js';
import { describeFailure } from './failure.js';
import { messagePage, STYLE_SOURCE } from './pages.js';
import { connectionRoutes, connectRoutes, sendHome } from './routes.js';
import { Sessions } from './sessions.js';

/** Creates the demo application "Connect your calendar", which does not listen yet. */
export async function createDemoApp(configuration: DemoConfiguration): Promise<FastifyInstance> {
  // Requests are not logged, because the callback's URL contains the code.
  const app = Fastify({
    logger: { level: configuration.LOG_LEVEL },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 8 * 1024,
    forceCloseConnections: 'idle',
  });
  await app.register(cookie);
  await app.register(formbody);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headersOf(configuration));
    done();
  });

  sendHome(app, new URL(configuration.REDIRECT_URI).origin);
  const sessions = new Sessions(configuration.REDIRECT_URI.startsWith('https:'));
  const context = { client: new CalendarClient(configuration), sessions };
  connectRoutes(app, context);
  connectionRoutes(app, context);
  eventRoutes(app, configuration, sessions);

  app.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .type('text/html; charset=utf-8')
      .send(
        messagePage({
          title: 'Nothing here',
          text: 'This page does not exist.',
        }),
      ),
  );
  app.setErrorHandler((error, request, reply) => {
    const { status, message, log } = describeFailure(error);
    request.log[status >= 500 ? 'error' : 'warn']({ status, ...log }, message.title);
    return reply.code(status).type('text/html; charset=utf-8').send(messagePage(message));
  });
  return app;
}

function headersOf({ AUTH_URL }: DemoConfiguration): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    // Chromium applies form-action to redirects, and "Connect" redirects to the login page of the service or product.
    'Content-Security-Policy': `default-src 'none';style-src ${STYLE_SOURCE};form-action 'self' ${AUTH_URL} http://localhost:* http://127.0.0.1:* https:;base-uri 'none';frame-ancestors 'none'`,
    // The callback's URL contains the code, which must not be sent to other pages in Referer.
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
