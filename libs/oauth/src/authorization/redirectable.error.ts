import { OAuthError } from '../oauth-error.js';
import type { ReturnAddress } from './authorization-request.js';

/** An error that the client may be told by a redirect, because the address to send it to is known to be the client's. */
export class RedirectableError extends OAuthError {
  constructor(
    { code, status, description, detail, cause }: OAuthError,
    readonly returnTo: ReturnAddress,
    clientId: string,
  ) {
    super(code, status, description, { detail: { client_id: clientId, ...detail }, cause });
    this.name = 'RedirectableError';
  }
}
