import type { FastifyRequest } from 'fastify';
import { type Expected, refused } from '#platform/validation/administration.error.js';
import { matchesWeakly, parseEntityTags, entityTagOf } from '#oauth/entity-tag.js';
import { problem } from '#platform/validation/problem.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';

/** Condition of a change. `isAbsent` requires that the resource does not exist. */
export type Condition = Expected & { readonly isAbsent?: true };

/** Tag of `etagOf`. */
const TAG = /^"([1-9]\d{0,8})-[\w-]{22}"$/;
const MAX_TAGS = 10;

/**
 * Returns the version, which a change increases, with the digest of the representation, which may also change
 * without a change of the resource: the number of live grants of a user, for example.
 */
export function etagOf(version: number, representation: string | Uint8Array): string {
  return `"${version}-${entityTagOf(representation)}"`;
}

/**
 * Returns the versions in If-Match (RFC 9110 13.1.1), without repetitions; one empty condition for `*`. Ignores weak
 * tags, and tags of other services, because they cannot match.
 * @throws RefusedRequestError 428 without the header (RFC 6585 3), 400 for a malformed header
 */
export function expectedVersions({ headers }: FastifyRequest): readonly Condition[] {
  const header = headers['if-match'];
  if (header === undefined)
    throw new RefusedRequestError(
      428,
      'If-Match is missing: send the ETag of the version that you have read, or *',
      { detail: { check: 'if_match_missing' } },
    );
  const tags = tagsOf('If-Match', header);
  if (tags === '*') return [{}];
  const versions = new Set(tags.flatMap((tag) => TAG.exec(tag)?.[1] ?? []));
  if (versions.size > MAX_TAGS)
    throw new RefusedRequestError(400, `If-Match contains more than ${MAX_TAGS} entity tags`, {
      detail: { check: 'if_match_too_long' },
    });
  return [...versions].map((version) => ({ version: Number(version) }));
}

/**
 * Evaluates the conditions of a read in the order of RFC 9110 13.2.2.
 * @returns true if the caller has this representation, for the response 304
 * @throws AdministrationError of the kind `outdated`, RefusedRequestError
 */
export function isNotModified({ headers }: FastifyRequest, etag: string): boolean {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match !== undefined) {
    const tags = tagsOf('If-Match', match);
    if (tags !== '*' && !tags.includes(etag)) throw outdated();
  }
  if (noneMatch === undefined) return false;
  tagsOf('If-None-Match', noneMatch);
  return matchesWeakly(noneMatch, etag);
}

/**
 * Returns true for `If-None-Match: *`, the condition of a creation (RFC 9110 13.1.2).
 * @throws RefusedRequestError for a condition that this operation does not evaluate
 */
export function requiresAbsence({ headers }: FastifyRequest): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  if (headers['if-match'] === undefined && tagsOf('If-None-Match', header) === '*') return true;
  throw unsupportedCondition('If-None-Match can only be *, and without If-Match');
}

export function unsupportedCondition(description: string): RefusedRequestError {
  return new RefusedRequestError(400, description, { detail: { check: 'condition_unsupported' } });
}

export function outdated(): Error {
  return refused('outdated', problem('version_outdated', [], {}));
}

function tagsOf(name: string, header: string): readonly string[] | '*' {
  const tags = parseEntityTags(header);
  if (tags !== null) return tags;
  throw new RefusedRequestError(400, `${name} must be a list of entity tags in double quotes, or *`, {
    detail: { check: `${name.toLowerCase().replaceAll('-', '_')}_malformed` },
  });
}
