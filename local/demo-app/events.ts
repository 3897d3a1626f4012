import type { FastifyInstance } from 'fastify';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { DemoConfiguration } from './demo.configuration.js';
import { eventsPage, type ReceivedEvent } from './pages.js';
import type { Sessions } from './sessions.js';

const MAX_EVENTS = 50;
const REVOKING = new Set(['tokens-revoked', 'account-disabled', 'account-purged']);

/** Receives security events (RFC 8935), and shows them as they arrive. */
export function eventRoutes(
  app: FastifyInstance,
  { BASE_URL, CLIENT_ID }: DemoConfiguration,
  sessions: Sessions,
): void {
  const keys = createRemoteJWKSet(new URL(`${BASE_URL}/api/auth/oauth/jwks`));
  const received: ReceivedEvent[] = [];
  app.addContentTypeParser('application/secevent+jwt', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  );

  app.post('/events', async (request, reply) => {
    try {
      const { payload } = await jwtVerify(String(request.body), keys, {
        issuer: BASE_URL,
        audience: CLIENT_ID,
        typ: 'secevent+jwt',
        requiredClaims: ['jti', 'events'],
      });
      // An event can arrive twice.
      if (!received.some(({ jti }) => jti === payload.jti)) {
        const events = eventsIn(payload);
        received.unshift(...events);
        received.splice(MAX_EVENTS);
        for (const { type, subject } of events) if (REVOKING.has(type)) sessions.disconnect(subject);
      }
      return await reply.code(202).send();
    } catch (error) {
      const isInvalid = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
      return reply.code(isInvalid ? 400 : 503).send({ err: 'invalid_request' });
    }
  });

  app.get('/events', async (request, reply) => {
    const { userId } = sessions.open(request, reply);
    const shown = received.filter(({ subject }) => subject === userId || subject === CLIENT_ID);
    return reply.type('text/html; charset=utf-8').send(eventsPage(shown));
  });
}

function eventsIn(payload: JWTPayload): ReceivedEvent[] {
  const {
    jti = '',
    sub_id: subject,
    events,
  } = payload as JWTPayload & {
    readonly sub_id?: { readonly sub?: string };
    readonly events: Readonly<Record<string, { readonly reason_user?: { readonly en?: string } }>>;
  };
  return Object.entries(events).map(([uri, { reason_user: reason }]) => ({
    jti,
    at: new Date(),
    type: uri.split('/').at(-1) ?? uri,
    subject: subject?.sub ?? '',
    reason: reason?.en,
  }));
}
