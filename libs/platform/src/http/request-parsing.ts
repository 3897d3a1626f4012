import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RefusedRequestError } from './failed-request.js';

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

/**
 * RFC 9112 3.2: "A server MUST respond with a 400 (Bad Request) status code to any HTTP/1.1 request message that lacks
 * a Host header field and to any request message that contains more than one". Closes the connection, because a proxy
 * that uses another Host than Node may also see another end of the request (request smuggling).
 */
export function requireHost({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (hasUnambiguousHost(raw)) return;
  void reply.header('Connection', 'close');
  throw new RefusedRequestError(400, 'the request must have one Host header', {
    detail: { check: 'host_header_invalid', hosts: countHosts(raw.rawHeaders) },
  });
}

export function hasUnambiguousHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = countHosts(rawHeaders);
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** Parsers of UTF-8 request bodies by media type. A parser's error determines the response. */
export type BodyParsers = Readonly<Record<string, (text: string) => unknown>>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Accepts bodies of these media types, and responds 415 to other media types. */
export function addBodyParsers(fastify: FastifyInstance, parsers: BodyParsers): void {
  fastify.removeAllContentTypeParsers();
  for (const [type, parse] of Object.entries(parsers)) {
    fastify.addContentTypeParser<Buffer>(type, { parseAs: 'buffer' }, ({ headers, method }, body, done) => {
      // Many HTTP clients send a Content-Type with every request.
      if (method === 'DELETE' && body.length === 0) return done(null, undefined);
      try {
        checkCoding(headers['content-encoding']);
        done(null, parse(decode(body)));
      } catch (error) {
        done(error as Error);
      }
    });
  }
}

/** RFC 9110 15.5.16: the 415 lists the accepted content codings in Accept-Encoding. */
function checkCoding(coding = ''): void {
  if (coding === '' || coding.toLowerCase() === 'identity') return;
  throw new RefusedRequestError(415, 'the body has a Content-Encoding: send it uncompressed', {
    headers: { 'Accept-Encoding': 'identity' },
    detail: { check: 'content_encoding_unsupported' },
  });
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new RefusedRequestError(400, 'the body is not valid UTF-8', {
      detail: { check: 'body_malformed' },
      cause,
    });
  }
}
