import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesWeakly, entityTagOf } from '#oauth/entity-tag.js';
import { fixedHeader, json, type OperationDescription, type ResponseDescription } from './operation.js';

const CACHE_CONTROL = 'public, max-age=300';

export interface ServedDocument {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Replaces the placeholders for origins. @param addresses origin of this installation for each placeholder */
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
      ETag: `"${entityTagOf(body)}"`,
    },
  };
}

/** Sends the document, or 304 if the caller's copy is current (RFC 9110 13.1.2). */
export function sendDocument(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { body, headers: fixed }: ServedDocument,
): void {
  void reply.headers(fixed);
  if (matchesWeakly(headers['if-none-match'] ?? '', fixed['ETag'] ?? '')) void reply.status(304).send();
  else void reply.send(body);
}

/** Returns the Link header that points to the OpenAPI document (RFC 8631). */
export const serviceDescription = (path: string): string => `<${path}>; rel="service-desc"`;

const OPENAPI_DOCUMENT = json({
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  additionalProperties: true,
});

const CACHING = { 'Cache-Control': fixedHeader(CACHE_CONTROL) } as const;

export const openApiOperation = (
  id: string,
  errors: OperationDescription['responses'],
): OperationDescription =>
  documentOperation({ id, summary: 'This OpenAPI document', content: OPENAPI_DOCUMENT }, errors);

export const documentOperation = (
  {
    id,
    summary,
    content,
  }: Pick<OperationDescription, 'id' | 'summary'> & Required<Pick<ResponseDescription, 'content'>>,
  errors: OperationDescription['responses'],
): OperationDescription => ({
  id,
  summary,
  tag: 'Metadata',
  parameters: {
    'If-None-Match': { in: 'header', description: '`ETag` of an earlier response.' },
  },
  responses: {
    200: {
      description: 'The document, with the URLs of this installation.',
      headers: {
        ...CACHING,
        ETag: { description: 'Changes with the document.', required: true },
      },
      content,
    },
    304: {
      description: 'The document has not changed.',
      headers: {
        ...CACHING,
        ETag: { description: 'Equals `If-None-Match`.', required: true },
      },
    },
    ...errors,
  },
});

/** Endpoints of the internal port by path. The platform serves them with a plain HTTP server. */
export const INTERNAL_PORT: Readonly<Record<string, OperationDescription>> = {
  '/healthz': {
    id: 'healthz',
    tag: 'Internal port',
    summary: 'Liveness of the process',
    responses: { 200: { description: 'The process is running.', content: json(status('ok')) } },
  },
  '/readyz': {
    id: 'readyz',
    tag: 'Internal port',
    summary: 'Readiness of the process',
    responses: {
      200: { description: 'The process can serve requests.', content: json(status('ready')) },
      503: {
        description: 'The process cannot serve requests.',
        content: json({
          type: 'object',
          required: ['status', 'missing', 'reasons'],
          properties: {
            status: { type: 'string', const: 'not ready' },
            missing: {
              type: 'array',
              items: { type: 'string' },
              description: 'Unavailable dependencies, or `start` or `stop`.',
            },
            reasons: {
              type: 'object',
              additionalProperties: true,
              description: 'Reason by dependency, such as `Authorization Violation`.',
            },
          },
        }),
      },
    },
  },
  '/metrics': {
    id: 'metrics',
    tag: 'Internal port',
    summary: 'Metrics for Prometheus',
    responses: {
      200: {
        description: 'Prometheus text format.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      500: {
        description: 'The metrics could not be collected.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
  },
};

function status(value: string) {
  return {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string', const: value } },
  } as const;
}
