import { OPERATORS_SCOPE } from '#oauth/client-credentials.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import type { ChangeRequest } from './request-input.js';

/**
 * Protects API clients that can make admins: a client without this scope must not register or enable one, and must not
 * replace its keys.
 * @param scopes of the client before and after the change
 * @throws RefusedRequestError 403 like an operation that requires the scope (RFC 6750 3.1)
 */
export function checkOperatorsScope({ token }: Pick<ChangeRequest, 'token'>, scopes: unknown): void {
  if (!Array.isArray(scopes) || !scopes.includes(OPERATORS_SCOPE) || token.scopes.includes(OPERATORS_SCOPE))
    return;
  throw new RefusedRequestError(
    403,
    `the access token needs the scope ${OPERATORS_SCOPE}: request one with it`,
    {
      detail: {
        check: 'scope_insufficient',
        client_id: token.clientId,
        sent: token.scopes.join(' '),
        expected: OPERATORS_SCOPE,
      },
    },
  );
}
