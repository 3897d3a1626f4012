import type { FastifyRequest } from 'fastify';
import type { Expected } from '#administration/expected-version.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';

const TAG = /^"([1-9]\d{0,8})"$/;

/**
 * Returns the version in If-Match (RFC 9110 13.1.1); none for `*`.
 *
 * @throws RefusedRequestError 428 without the header, 412 for a weak or malformed tag, which cannot match
 */
export function expectedVersion({ headers }: FastifyRequest): Expected {
  const header = headers['if-match'];
  if (header === undefined)
    throw new RefusedRequestError(
      428,
      'If-Match is missing: send the ETag of the version that you have read, or *',
    );
  if (header.trim() === '*') return {};
  const [, version] = TAG.exec(header.trim()) ?? [];
  if (version === undefined)
    throw new RefusedRequestError(412, 'If-Match must be one ETag of this resource, or *');
  return { version: Number(version) };
}
