import type { ResponseMode } from './authorization-parameters.js';
import type { OAuthClient } from './oauth-client.js';
import { OAuthError } from './oauth-error.js';

export interface ReturnAddress {
  /** A registered redirect URI of the client, exactly as in the request. */
  readonly redirectUri: string;
  /** Null if the request has no valid state. */
  readonly state: string | null;
  readonly responseMode: ResponseMode | 'fragment';
}

/** Error to return to the client's redirect URI, which has been validated. */
export class RedirectableError extends OAuthError {
  constructor(
    { code, status, reason, detail, cause }: OAuthError,
    readonly returnTo: ReturnAddress,
    readonly client: Pick<OAuthClient, 'clientId' | 'name'>,
  ) {
    super(code, status, reason, { detail: { client_id: client.clientId, ...detail }, cause });
    this.name = 'RedirectableError';
  }
}
