import type { OperationDescription } from '#openapi/operation.js';
import { errorPages, IMAGE } from '../ui/page.openapi.js';

export const LOGO_OPERATION: OperationDescription = {
  id: 'logo',
  tag: 'Pages',
  summary: 'Logo of an application',
  parameters: {
    digest: { in: 'path', required: true, description: 'SHA-256 of the image, in hexadecimal.' },
  },
  responses: { 200: { description: 'The image.', content: IMAGE }, ...errorPages(404) },
};
