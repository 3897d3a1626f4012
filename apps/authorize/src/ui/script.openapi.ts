import type { OperationDescription } from '#openapi/operation.js';
import { errorPages } from './page.openapi.js';

export const SCRIPT_OPERATION: OperationDescription = {
  id: 'script',
  tag: 'Pages',
  summary: 'The script of the pages',
  responses: {
    200: {
      description: 'The script. Its URL contains a digest of its content.',
      content: { 'text/javascript': { schema: { type: 'string' } } },
    },
    ...errorPages(404),
  },
};
