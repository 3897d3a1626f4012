import type { Problem } from '#platform/validation/problem.js';
import type { FastifyRequest } from 'fastify';
import { fieldOfProblem } from '#error-guide/problems/problem-entry.js';
import { memberOf } from '#operations/member-names.js';
import { wellFormed } from '#oauth/text.js';
import { queryOf } from '#pages/form.js';

/** Member of the body, as a URI fragment (RFC 6901 6, RFC 9457 3), or parameter of the path or query. */
export type Location = { readonly pointer: string } | { readonly parameter: string };

export const located = (location: Location): { readonly location: Location } => ({ location });

/** Returns the pointer to a member of the body. */
export function pointerTo(member: string): string {
  const token = wellFormed(member).replaceAll('~', '~0').replaceAll('/', '~1');
  return `#/${encodeURIComponent(token)}`;
}

/** Returns the location of the field under the name that the caller sent, or would have to send. */
export function locationOf(problem: Problem, { method, url, body }: FastifyRequest): Location | null {
  if ('location' in problem) return problem.location as Location;
  // The body of an image has no members.
  const field = fieldOfProblem(problem);
  if (field === undefined || Buffer.isBuffer(body)) return null;
  const member = memberOf(field);
  const isSent = typeof body === 'object' && body !== null && Object.hasOwn(body, member);
  const isParameter = !isSent && (queryOf(url).has(member) || ['GET', 'HEAD', 'DELETE'].includes(method));
  return isParameter ? { parameter: member } : { pointer: pointerTo(member) };
}
