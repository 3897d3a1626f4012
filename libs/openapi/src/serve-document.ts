import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fixedHeader, json, type OperationDescription } from './operation.js';

const CACHE_CONTROL = 'public, max-age=300';

/** The description of an API as an app serves it. */
export interface ServedDocument {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Puts the addresses of this installation into a description.
 *
 * @param addresses each origin that the description was generated with, and what it is here
 */
export function serveDocument(document: object, addresses: Readonly<Record<string, string>>): ServedDocument {
  const body = Object.entries(addresses).reduce(
    (text, [generated, here]) => text.replaceAll(generated, here),
    JSON.stringify(document),
  );
  return {
    body,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': CACHE_CONTROL,
      ETag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    },
  };
}

/** Answers with the description, or with 304 if the caller has it (RFC 9110 13.1.2). */
export function sendDocument(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { body, headers: fixed }: ServedDocument,
): void {
  void reply.headers(fixed);
  if (headers['if-none-match'] === fixed['ETag']) void reply.status(304).send();
  else void reply.send(body);
}

/** RFC 8631: the header by which a resource names its description for machines. */
export const serviceDescription = (path: string): string => `<${path}>; rel="service-desc"`;

const CACHING = { 'Cache-Control': fixedHeader(CACHE_CONTROL) } as const;

/** @param errors what the app may answer instead */
export const openApiOperation = (
  id: string,
  errors: OperationDescription['responses'],
): OperationDescription => ({
  id,
  tag: 'Metadata',
  summary: 'This description',
  parameters: {
    'If-None-Match': { in: 'header', description: 'The `ETag` of an earlier answer.' },
  },
  responses: {
    200: {
      description: 'OpenAPI 3.1, with the addresses of this installation.',
      headers: {
        ...CACHING,
        ETag: { description: 'Changes with the description.', required: true },
      },
      content: json({
        type: 'object',
        required: ['openapi', 'info', 'paths'],
        properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
        additionalProperties: true,
      }),
    },
    304: {
      description: 'The description has not changed.',
      headers: {
        ...CACHING,
        ETag: { description: 'That of the request.', required: true },
      },
    },
    ...errors,
  },
});
