import { scopeTokens } from '#oauth/scope.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** RFC 6749 3.3 `scope-token`. */
const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/**
 * The scope that a refresh asks for (RFC 6749 6): "The requested scope MUST NOT include any scope not originally
 * granted by the resource owner, and if omitted is treated as equal to the scope originally granted". What the client
 * is registered for today does not count: the user's grant is what it lives on, and an operator who shrinks a
 * registration limits what can be asked of users from then on. Who must take back what is granted deletes the client.
 *
 * @returns space-separated scope tokens, or null for all that was granted
 * @throws OAuthError invalid_scope for what is no scope; whether it was granted is the grant engine's to say
 */
export function refreshScope(parameter: string | undefined): string | null {
  const tokens = scopeTokens(parameter ?? '');
  if (!tokens.every((token) => SCOPE_TOKEN.test(token)))
    throw OAuthError.invalidScope("the parameter 'scope' must be scope tokens separated by spaces", {
      detail: { check: 'scope syntax' },
    });
  return tokens.length === 0 ? null : tokens.join(' ');
}
