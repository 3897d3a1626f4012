import type { Client } from '#clients/client.js';
import { OAuthError } from '#oauth/oauth-error.js';

/** Error of a request whose client is known. The error page shows the name of the client. */
export class KnownClientError extends OAuthError {
  constructor(
    { code, status, reason, detail, headers, cause }: OAuthError,
    readonly client: Client,
  ) {
    super(code, status, reason, { detail, headers, cause });
    this.name = 'KnownClientError';
  }
}
