import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { canonicalAddress } from '#platform/http/client-address.js';
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
 *
 * @param caller reads who sent a request; null to record it without
 */
export function recordRequests(
  fastify: Pick<FastifyInstance, 'addHook'>,
  publisher: Pick<AuditPublisher, 'record'>,
  caller: ((request: FastifyRequest) => Caller) | null,
): void {
  const aborted = new WeakSet<IncomingMessage>();
  const record = (request: FastifyRequest, status: number): void => {
    const fields = logContext(request.raw);
    const type = typeOf(request, fields, status);
    if (type !== null) publisher.record(describe(request, fields, type, status, caller?.(request) ?? {}));
  };
  if (caller)
    fastify.addHook('onRequest', ({ raw }, _reply, done) => {
      // Node keeps an address that was read; a closed connection has none.
      Reflect.get(raw.socket, 'remoteAddress');
      done();
    });
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

/** The sender of a request. */
type Caller = Pick<AuditRecord, 'address' | 'user_agent'>;

/** Longer ones are cut off: the sender chooses the text. */
const MAX_USER_AGENT = 200;

/** Reads the caller. Control characters of the user agent are replaced, because events are printed at terminals. */
export function callerOf({ ip, headers }: FastifyRequest): Caller {
  const agent = headers['user-agent'];
  return {
    address: canonicalAddress(ip),
    user_agent: agent?.slice(0, MAX_USER_AGENT).replaceAll(/\p{C}/gu, '\uFFFD'),
  } as Caller;
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
  { address, user_agent }: Caller,
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
    address,
    user_agent,
    status,
    error,
    check,
    description,
    detail: Object.keys(detail).length > 0 ? detail : undefined,
  } as AuditRecord;
}
