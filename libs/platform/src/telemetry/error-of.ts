import type { FastifyReply, FastifyRequest } from 'fastify';
import { logContext } from '../logging/log-context.js';

const CODE = /^[a-z_]{1,40}$/;

/**
 * The error code a request was answered with; undefined for none. A resource's is in its challenge (RFC 6750 3.1),
 * where a request that had no token gets none: `token_required` is our word for it.
 */
export function errorOf(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const { error } = logContext(request.raw);
  if (typeof error !== 'string' || !CODE.test(error)) return undefined;
  const challenge = reply.getHeader('www-authenticate');
  if (typeof challenge !== 'string' || challenge.startsWith('Basic')) return error;
  return /\berror="([a-z_]{1,40})"/.exec(challenge)?.[1] ?? 'token_required';
}
