import type { Client } from '#database/client/client.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** An error of a request that identified the application. Its page shows the application. */
export class KnownClientError extends OAuthError {
  constructor(
    { code, status, description, detail, headers, cause }: OAuthError,
    readonly client: Client,
  ) {
    super(code, status, description, { detail, headers, cause });
    this.name = 'KnownClientError';
  }
}
