import { createHash } from 'node:crypto';

const ELEMENT = /[\t ]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(?:,|$)/y;

/**
 * Parses If-Match or If-None-Match (RFC 9110 13.1.1).
 * @returns the entity tags with quotes and `W/`; `*`; or null for a malformed list
 */
export function parseEntityTags(header: string): readonly string[] | '*' | null {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < header.length) {
    const element = ELEMENT.exec(header);
    if (!element) return null;
    if (element[1] !== undefined) tags.push(element[1]);
  }
  return tags.length > 0 ? tags : null;
}

/** Weak comparison (RFC 9110 8.8.3.2), which If-None-Match requires. A malformed list matches nothing. */
export function matchesWeakly(header: string, etag: string): boolean {
  const tags = parseEntityTags(header);
  const opaque = (tag: string) => tag.replace(/^W\//, '');
  return tags === '*' || (tags ?? []).some((tag) => opaque(tag) === opaque(etag));
}

/** Returns 132 bits of the SHA-256 of a representation, without quotes. */
export function entityTagOf(representation: string | Uint8Array): string {
  return createHash('sha256').update(representation).digest('base64url').slice(0, 22);
}
