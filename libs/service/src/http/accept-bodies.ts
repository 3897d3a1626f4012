import type { FastifyInstance } from 'fastify';
import { type Parameters, parseForm, parseJson, parseText } from './parameters.js';

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
      async (_request: unknown, body: Buffer) => parse(parseText(body)),
    );
  }
}
