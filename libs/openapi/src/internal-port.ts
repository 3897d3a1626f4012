import { json, type OperationDescription } from './operation.js';

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
