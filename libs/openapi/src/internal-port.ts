import { json, type OperationDescription } from './operation.js';

/** The endpoints of the internal port, which a plain HTTP server of the platform answers, by path. */
export const INTERNAL_PORT: Readonly<Record<string, OperationDescription>> = {
  '/healthz': {
    id: 'healthz',
    tag: 'Internal port',
    summary: 'Whether the process runs',
    responses: { 200: { description: 'It runs.', content: json(status('ok')) } },
  },
  '/readyz': {
    id: 'readyz',
    tag: 'Internal port',
    summary: 'Whether the process can serve requests',
    responses: {
      200: { description: 'It can.', content: json(status('ready')) },
      503: {
        description: 'It cannot.',
        content: json({
          type: 'object',
          required: ['status', 'missing'],
          properties: {
            status: { type: 'string', const: 'not ready' },
            missing: {
              type: 'array',
              items: { type: 'string' },
              description: 'Dependencies that do not answer; or `start` or `stop`.',
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
        description: 'Text format of Prometheus.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
      500: {
        description: 'They could not be collected.',
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
