import { Injectable } from '@nestjs/common';
import type { TokenInfo } from '#introspection/index.js';
import { type ClaimsReply, parseReply, SUBJECTS, tagOf } from '#messaging/contract.js';
import { InvalidatedCache } from '#messaging/invalidated-cache.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { grantedClaims } from '#oauth/openid/claims.js';
import { countLookups, Metrics } from '#platform/telemetry/metrics.js';
import type { UserInfo } from './userinfo.openapi.js';

type Claims = ClaimsReply['claims'];

const CACHED_MS = 30_000;
const CACHED_CLAIMS = 10_000;

@Injectable()
export class UserInfoService {
  private readonly claims: InvalidatedCache<Claims>;

  constructor(connection: NatsConnection, metrics: Metrics) {
    this.claims = new InvalidatedCache<Claims>(connection.broadcasts, {
      max: CACHED_CLAIMS,
      fetch: async (key, reference) => {
        const [userId, clientId] = ownerOf(key);
        const request = { user_id: Number(userId), client_id: clientId };
        const options = { reference, isRepeatable: true };
        const reply = await connection.request(SUBJECTS.claims, request, parseReply.claims, options);
        return reply.claims;
      },
      tags: (_claims, key) => {
        const [userId, clientId] = ownerOf(key);
        return [tagOf.user(userId), tagOf.client(clientId)];
      },
      ttl: (claims) => (claims ? CACHED_MS : 0),
    });
    this.claims.observe(countLookups(metrics, 'claims'));
  }

  /** @returns `sub` and the granted claims; null for an unknown user or client @throws DependencyUnavailableError */
  async find({ userId, clientId, scopes }: TokenInfo, reference: string): Promise<UserInfo | null> {
    // `sub` depends on the client (OpenID Connect Core 8.1). Client ids do not contain spaces.
    const claims = await this.claims.get(`${userId} ${clientId}`, reference);
    return claims && ({ sub: claims.sub, ...grantedClaims(claims, scopes) } as UserInfo);
  }
}

function ownerOf(key: string): [userId: string, clientId: string] {
  const [userId = '', clientId = ''] = key.split(' ');
  return [userId, clientId];
}
