import { ASSERTION_TYPE } from '#oauth/client-assertion/client-assertion.js';
import { LIMITS, Parameter } from '#oauth/parameters.js';

export class ClientDto {
  @Parameter({
    max: LIMITS.client_id,
    required: false,
    description: 'The client, unless HTTP Basic or the `client_assertion` names it.',
  })
  client_id?: string;

  @Parameter({
    max: LIMITS.client_secret,
    required: false,
    description: 'The secret of a confidential client, unless HTTP Basic carries it (RFC 6749 2.3.1).',
  })
  client_secret?: string;

  @Parameter({
    max: LIMITS.client_assertion_type,
    required: false,
    values: [ASSERTION_TYPE],
    description: 'Required with `client_assertion`.',
  })
  client_assertion_type?: string;

  @Parameter({
    max: LIMITS.client_assertion,
    required: false,
    description:
      'JWT signed by a key of the client (RFC 7523 2.2), in place of a secret. `client_id` may be left out then.',
  })
  client_assertion?: string;
}
