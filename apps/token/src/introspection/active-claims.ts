import type { IntrospectedToken } from '#grants/grant.js';

/** Response to the introspection of an active access token, by HTTP (RFC 7662 2.2) and by NATS. */
export function activeClaims({ token, grant, grantId, scope, audience }: IntrospectedToken) {
  return {
    active: true,
    // RFC 7662 2.2 permits additional members. A cache needs `grant_id` for the broadcast `oauth.grant.revoked`.
    grant_id: grantId,
    client_id: grant.clientId,
    sub: String(grant.userId ?? grant.clientId),
    scope,
    exp: token.expiry,
    // RFC 7662 2.2: "the intended audience for this token". Other APIs must refuse the token (RFC 9700 2.3).
    ...(audience !== null && { aud: audience.split(' ') }),
    ...(grant.externalId !== null && { external_id: grant.externalId }),
    // RFC 9449 6.2: the resource server must require a proof of this key.
    ...(token.jkt !== null && { cnf: { jkt: token.jkt } }),
  } as const;
}
