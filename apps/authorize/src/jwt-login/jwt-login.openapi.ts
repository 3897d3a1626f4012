import type { OperationDescription } from '#openapi/operation.js';
import { continues, errorPages, formErrors, formOf } from '../ui/page.openapi.js';

export const JWT_LOGIN_OPERATION: OperationDescription = {
  id: 'jwtLogin',
  tag: 'Pages',
  summary: 'Receives a login of the product as a signed JWT',
  description: 'Only if users log in by signed JWT (docs/login.md).',
  form: formOf({ assertion: 'JWT of the product.', repeated: '`yes` if our own page resubmits the form.' }, [
    'assertion',
  ]),
  responses: {
    200: continues(
      'To the next page, with the session. Or a page that resubmits the form, so that the browser adds the cookies of this site.',
    ),
    ...formErrors(),
  },
};

export const LOGIN_KEYS_OPERATION: OperationDescription = {
  id: 'loginKeys',
  tag: 'Metadata',
  summary: 'The keys that sign login challenges',
  description: 'RFC 7517 5. Only if users log in by signed JWT.',
  responses: {
    200: {
      description: 'The keys.',
      content: {
        'application/jwk-set+json': {
          schema: {
            type: 'object',
            required: ['keys'],
            properties: { keys: { type: 'array', items: { type: 'object' } } },
          },
        },
      },
    },
    ...errorPages(),
  },
};
