import { Injectable } from '@nestjs/common';
import type { Client } from '#database/client/client.js';
import { UserStore } from '#database/user/user.store.js';
import type { Granted } from '#grants/grant.js';
import { grantedClaims, type UserClaims } from '#oauth/openid/claims.js';
import { accessTokenHash, type IdTokenClaims, sessionIdFor, subjectOf } from '#oauth/openid/id-token.js';
import { DEFAULT_SIGNING_ALGORITHM, SigningKeys } from '#oauth/openid/signing-keys.js';
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
   * Returns null if this service is not an OpenID provider. A refresh gives the same `sub`, `aud`, `auth_time` and `sid`, and no `nonce`
   * (OpenID Connect Core 12.2).
   */
  async issue(client: Client, { grant, pair, idToken }: Granted): Promise<string | null> {
    if (this.keys.isEmpty) return null;
    const scope = pair.scope.split(' ');
    const alg = client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;
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
      ...(idToken?.claims && (await this.userClaims(grant.userId, scope, idToken.claims))),
    };
    return this.keys.sign(claims, alg);
  }

  /** OpenID Connect Core 5.5: individually requested claims that the granted scopes include. */
  private async userClaims(
    userId: number,
    scope: readonly string[],
    requested: readonly string[],
  ): Promise<UserClaims> {
    const granted = grantedClaims((await this.users.claims(userId)) ?? {}, scope);
    return Object.fromEntries(Object.entries(granted).filter(([name]) => requested.includes(name)));
  }
}
