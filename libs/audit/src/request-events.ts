import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OVERLOAD_CHECK } from '#platform/http/overload.js';
import { addLogContext, logContext, pathOf, referenceOf } from '#platform/logging/request-log.js';
import type { AuditRecord, AuditType } from './event.js';
import type { AuditPublisher } from './publisher.js';

/** Names the event that a request is in the audit trail. Its log line has it too; its other fields come from there. */
export function addAuditEvent(request: IncomingMessage, type: AuditType): void {
  addLogContext(request, { event: type });
}

/**
 * Records each request that is an event of the trail, or refused, from its log context. Requests refused under overload are only
 * counted: an event would cost more than their answer.
 */
export function recordRequests(
  fastify: Pick<FastifyInstance, 'addHook'>,
  publisher: Pick<AuditPublisher, 'record'>,
): void {
  const aborted = new WeakSet<IncomingMessage>();
  const record = (request: FastifyRequest, status: number): void => {
    const fields = logContext(request.raw);
    const type = typeOf(request, fields, status);
    if (type !== null) publisher.record(describe(request, fields, type, status));
  };
  fastify.addHook('onResponse', (request, { statusCode }, done) => {
    if (!aborted.has(request.raw)) record(request, statusCode);
    done();
  });
  // As in the log: an aborted request's tokens are issued all the same.
  fastify.addHook('onRequestAbort', (request, done) => {
    aborted.add(request.raw);
    done();
  });
  fastify.addHook('onSend', (request, { raw, statusCode }, payload, done) => {
    if (raw.destroyed && aborted.has(request.raw)) record(request, statusCode);
    done(null, payload);
  });
}

type Fields = Readonly<Record<string, unknown>>;

const LOGIN_PATHS: ReadonlySet<string | undefined> = new Set([ENDPOINTS.login, ENDPOINTS.loginCallback]);

/** Null for a request that is no event. */
function typeOf({ routeOptions }: FastifyRequest, fields: Fields, status: number): AuditType | null {
  const { event, error, check } = fields;
  if (typeof event === 'string') return event as AuditType;
  if (error === undefined && status < 400) return null;
  if (check === OVERLOAD_CHECK) return null;
  if (check === 'code_replayed' || check === 'refresh_token_reused') return 'token.reuse_detected';
  if (check === 'verifier_mismatch') return 'grant.revoked';
  if (status === 429) return 'request.throttled';
  return LOGIN_PATHS.has(routeOptions.url) && status < 500 ? 'login.refused' : 'request.refused';
}

function describe(
  { raw, method }: FastifyRequest,
  fields: Fields,
  type: AuditType,
  status: number,
): AuditRecord {
  const { event: _, client_id, user_id, grant_id, error, check, description, stack: __, ...detail } = fields;
  // Fields without a value are absent from the JSON.
  return {
    type,
    reference: referenceOf(raw),
    client_id,
    user_id,
    grant_id,
    request: { method, path: pathOf(raw.url ?? '') },
    status,
    error,
    check,
    description,
    detail: Object.keys(detail).length > 0 ? detail : undefined,
  } as AuditRecord;
}
