import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { canonicalAddress } from '#platform/http/client-address.js';
import { OVERLOAD_CHECK } from '#platform/http/overload.js';
import type { RequestObserver } from '#platform/http/request-hooks.js';
import { addLogContext, logContext, pathOf, referenceOf } from '#platform/logging/request-log.js';
import type { AuditRecord, AuditType } from './event.js';
import type { AuditPublisher } from './publisher.js';

/** Sets the audit event type of a request. The log line of the request also contains the type. */
export function addAuditEvent(request: IncomingMessage, type: AuditType): void {
  addLogContext(request, { event: type });
}

/**
 * Records events of requests, except pending polls of devices. Excludes refusals under overload, for which an event
 * would cost more than the response.
 * @param caller null to omit address and user agent
 */
export function requestEvents(
  publisher: Pick<AuditPublisher, 'record'>,
  caller: ((request: FastifyRequest) => Caller) | null,
): RequestObserver {
  const record = (request: FastifyRequest, { statusCode }: FastifyReply): void => {
    const fields = logContext(request.raw);
    const type = typeOf(request, fields, statusCode);
    if (type !== null) publisher.record(recordOf(request, fields, type, statusCode, caller?.(request) ?? {}));
  };
  return {
    onAnswered(request, reply, isAborted) {
      if (!isAborted) record(request, reply);
    },
    onUndelivered: record,
  };
}

/** Makes Node cache the address of each client, because a closed connection no longer has an address. */
export function keepAddresses(fastify: Pick<FastifyInstance, 'addHook'>): void {
  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    Reflect.get(raw.socket, 'remoteAddress');
    done();
  });
}

type Caller = Pick<AuditRecord, 'address' | 'user_agent'>;

const MAX_USER_AGENT = 200;

/** Replaces control characters in the user agent, because events are printed in terminals. */
export function callerOf({ ip, headers }: FastifyRequest): Caller {
  const agent = headers['user-agent'];
  return {
    address: canonicalAddress(ip),
    user_agent: agent?.slice(0, MAX_USER_AGENT).replaceAll(/\p{C}/gu, '\uFFFD'),
  } as Caller;
}

type Fields = Readonly<Record<string, unknown>>;

/** The last path belongs to the console. */
const LOGIN_PATHS: ReadonlySet<string | undefined> = new Set([
  ENDPOINTS.login,
  ENDPOINTS.loginCallback,
  '/login/callback',
]);

function typeOf({ routeOptions }: FastifyRequest, fields: Fields, status: number): AuditType | null {
  const { event, error, check } = fields;
  if (typeof event === 'string') return event as AuditType;
  if (error === undefined && status < 400) return null;
  // A device polls every five seconds (RFC 8628 3.5), so its pending polls are not recorded.
  if (check === OVERLOAD_CHECK || check === 'decision_pending' || check === 'polled_too_early') return null;
  if (check === 'code_replayed' || check === 'refresh_token_reused') return 'token.reuse_detected';
  if (check === 'verifier_mismatch') return 'grant.revoked';
  if (status === 429) return 'request.throttled';
  return LOGIN_PATHS.has(routeOptions.url) && status < 500 ? 'login.refused' : 'request.refused';
}

function recordOf(
  { raw, method }: FastifyRequest,
  fields: Fields,
  type: AuditType,
  status: number,
  { address, user_agent }: Caller,
): AuditRecord {
  const { event: _, client_id, user_id, grant_id, operator, channel, ...others } = fields;
  const { error, check, description, stack: __, ...detail } = others;
  return {
    type,
    reference: referenceOf(raw),
    client_id,
    user_id,
    grant_id,
    operator,
    channel,
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
