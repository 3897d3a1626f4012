import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Client } from '#clients/client.js';
import { UserStore } from '#users/user.store.js';
import type { Granted } from '#grants/grant.js';
import { grantedClaims, type UserClaims } from '#oauth/openid/claims.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { accessTokenHash, type IdTokenClaims, sessionIdFor, subjectOf } from '#oauth/openid/id-token.js';
import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm, SigningKeys } from '#oauth/openid/signing-keys.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { messageOf } from '#platform/errors.js';
import { TokenConfiguration } from '../token.configuration.js';

/** Issues ID tokens (OpenID Connect Core 2) for grants with the scope `openid`. */
@Injectable()
export class IdTokenService {
  constructor(
    private readonly keys: SigningKeys,
    private readonly users: UserStore,
    private readonly configuration: TokenConfiguration,
  ) {}

  /**
   * Must be called before the code is redeemed, because a later failure would lose the grant.
   * @throws OAuthError server_error
   */
  checkKey(client: Client): void {
    const alg = algorithmOf(client);
    if (this.keys.isEmpty || this.keys.has(alg)) return;
    throw new OAuthError('server_error', 500, 'id_token_key_missing', {
      detail: { client_id: client.clientId, alg },
    });
  }

  /**
   * Returns null without a key, because a refresh response "might not contain an id_token" (OpenID Connect Core 12.2).
   * The ID token of a refresh has the `sub`, `aud`, `auth_time` and `sid` of the first ID token, but no `nonce`.
   */
  async issue(
    request: IncomingMessage,
    client: Client,
    { grant, pair, idToken }: Granted,
  ): Promise<string | null> {
    const alg = algorithmOf(client);
    if (!this.keys.has(alg)) return null;
    const scope = pair.scope.split(' ');
    const iat = Math.floor(grant.rotatedAt / 1000);
    const { login } = grant;
    const claims: IdTokenClaims & UserClaims = {
      iss: this.configuration.BASE_URL,
      sub: subjectOf(client, grant.userId),
      aud: client.clientId,
      exp: iat + this.configuration.ACCESS_TOKEN_LIFETIME,
      iat,
      ...(login && { sid: sessionIdFor(client.clientId, login.session) }),
      ...(login && login.authTime !== null && { auth_time: login.authTime }),
      ...(idToken?.nonce !== undefined && { nonce: idToken.nonce }),
      at_hash: accessTokenHash(pair.accessToken, alg),
      ...(idToken?.claims && (await this.userClaims(request, grant.userId, scope, idToken.claims))),
    };
    return this.keys.sign(claims, alg);
  }

  /**
   * Returns the requested claims (OpenID Connect Core 5.5.1), or no claims if PostgreSQL is unavailable. The request
   * must not fail, because the code is already redeemed.
   */
  private async userClaims(
    request: IncomingMessage,
    userId: number,
    scope: readonly string[],
    requested: readonly string[],
  ): Promise<UserClaims> {
    try {
      const granted = grantedClaims((await this.users.claims(userId)) ?? {}, scope);
      return Object.fromEntries(Object.entries(granted).filter(([name]) => requested.includes(name)));
    } catch (error) {
      const cause = messageOf(error);
      addLogContext(request, { id_token_without_claims: cause });
      return {};
    }
  }
}

function algorithmOf({ idTokenAlg }: Client): SigningAlgorithm {
  return idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;
}
