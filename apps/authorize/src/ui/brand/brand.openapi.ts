import { fixedHeader, type OperationDescription } from '#openapi/operation.js';
import { errorPages, IMAGE } from '../page.openapi.js';

/** Cache-Control of images whose URL changes with the content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

export const BRAND_OPERATION: OperationDescription = {
  id: 'brandImage',
  tag: 'Pages',
  summary: 'Logo or icon of the product',
  parameters: { name: { in: 'path', required: true, description: 'Digest and type of the image.' } },
  responses: {
    200: { description: 'The image.', headers: { 'Cache-Control': fixedHeader(IMMUTABLE) }, content: IMAGE },
    ...errorPages(404),
  },
};
