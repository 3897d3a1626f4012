import type { FastifyInstance } from 'fastify';
import { RefusedRequestError } from './refused-request.js';

/** Parsers of UTF-8 request bodies by media type. A parser's error determines the response. */
export type BodyParsers = Readonly<Record<string, (text: string) => unknown>>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Accepts bodies of these media types, and responds 415 to other media types. */
export function addBodyParsers(fastify: FastifyInstance, parsers: BodyParsers): void {
  fastify.removeAllContentTypeParsers();
  for (const [type, parse] of Object.entries(parsers)) {
    fastify.addContentTypeParser<Buffer>(type, { parseAs: 'buffer' }, ({ headers }, body, done) => {
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
