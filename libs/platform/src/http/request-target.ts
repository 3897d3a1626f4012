const UNROUTED = '/%25';

/** Removes the scheme and authority of a request target in absolute form (RFC 9112 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  return target.replace(/^https?:\/\/[^/?#%]*/i, '').replace(/^(?=\?|$)/, '/');
}

/** Returns path and query. Replaces a target that the router would quote in an error with an unrouted path. */
export function requestTarget({ url = '/' }: { readonly url?: string | undefined }): string {
  const target = originForm(url);
  if (!target.startsWith('/')) return UNROUTED;
  const [path = ''] = target.split('?', 1);
  if (!path.includes('%')) return target;
  try {
    decodeURI(path);
    return target;
  } catch {
    return UNROUTED;
  }
}

/** Replaces Fastify's query parser, which would run for every request. A handler that needs the query parses it. */
export function unparsedQuery(): Record<string, never> {
  return {};
}
