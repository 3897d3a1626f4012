import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OAuthError } from '#oauth/oauth-error.js';
import { type Parameters, parseForm, parseJson, parseText } from '#oauth/parameters.js';

const PARSERS: Readonly<Record<string, (text: string) => Parameters>> = {
  'application/x-www-form-urlencoded': parseForm,
  'application/json': parseJson,
};

/** Bodies are forms or JSON objects, read by the same rules in every app; any other type is 415. */
export function acceptBodies(
  fastify: Pick<FastifyInstance, 'addContentTypeParser' | 'removeAllContentTypeParsers'>,
): void {
  fastify.removeAllContentTypeParsers();
  for (const [type, parse] of Object.entries(PARSERS)) {
    fastify.addContentTypeParser<Buffer>(
      type,
      { parseAs: 'buffer' },
      async ({ headers }: Pick<FastifyRequest, 'headers'>, body: Buffer) => {
        checkCoding(headers['content-encoding']);
        return parse(parseText(body));
      },
    );
  }
}

/**
 * RFC 9110 15.5.16: "If the problem was caused by an unsupported content coding, the Accept-Encoding response header field
 * ought to be used to indicate which (if any) content codings would have been accepted in the request."
 */
function checkCoding(coding = ''): void {
  if (coding === '' || coding.toLowerCase() === 'identity') return;
  throw new OAuthError('invalid_request', 415, 'the body has a Content-Encoding: send it uncompressed', {
    headers: { 'Accept-Encoding': 'identity' },
    detail: { check: 'content_encoding' },
  });
}
