import type { Client } from '#database/client/client.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** An error whose page names the application, because the request identified it. */
export class KnownClientError extends OAuthError {
  constructor(
    { code, status, description, detail, headers, cause }: OAuthError,
    readonly client: Client,
  ) {
    super(code, status, description, { detail, headers, cause });
    this.name = 'KnownClientError';
  }
}
