import { Injectable } from '@nestjs/common';
import { matchClientSecret } from '#oauth/client-credentials.js';
import type { Client } from '#database/client/client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { UsageRecorder } from '../usage/usage-recorder.service.js';
import { ClientCache } from './client-cache.js';
import { BASIC_CHALLENGE, type ClientCredentials } from './client-credentials.js';

/** Authenticates clients at the token endpoints (RFC 6749 3.2.1). */
@Injectable()
export class ClientAuthenticator {
  constructor(
    private readonly clients: ClientCache,
    private readonly usage: UsageRecorder,
  ) {}

  /**
   * The client that proved who it is; a public one has nothing to prove (RFC 6749 2.1).
   * @throws OAuthError invalid_client; an unknown client and a wrong secret look the same from outside.
   */
  async authenticate({ clientId, clientSecret, method }: ClientCredentials): Promise<Client> {
    const refuse = (description: string, check: string) =>
      OAuthError.invalidClient(description, {
        detail: { check, client_id: clientId },
        headers: method === 'basic' ? BASIC_CHALLENGE : {},
      });
    const client = await this.clients.find(clientId);
    if (!client) throw refuse('unknown client, or a wrong client_secret', 'client is registered');
    if (client.type === 'public') {
      if (clientSecret === undefined) return client;
      throw refuse(
        'this is a public client: it has no client_secret and must not send one',
        'public client sends no secret',
      );
    }
    if (clientSecret === undefined)
      throw refuse("the parameter 'client_secret' is missing", 'client secret is sent');
    const secretId = matchClientSecret(clientSecret, client.secrets);
    if (secretId === null) throw refuse('unknown client, or a wrong client_secret', 'client secret matches');
    // Tells the operator when the old one of two secrets is out of use.
    this.usage.noteSecret(secretId);
    return client;
  }
}
