import { sessionIdFor, type SubjectRule, subjectOf } from './id-token.js';

/** `typ` of the header (section 2.4 of Back-Channel Logout 1.0). */
export const LOGOUT_TOKEN_TYPE = 'logout+jwt';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** In seconds. Section 2.4: "preferably at most two minutes in the future". */
export const LOGOUT_TOKEN_LIFETIME_S = 120;

/** Claims of a logout token, which must not include `nonce` (section 2.4). Times are in seconds since the epoch. */
export interface LogoutTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly events: Readonly<Record<string, object>>;
  readonly sid?: string;
}

export function logoutTokenClaims(
  { clientId, ...rule }: SubjectRule & { readonly clientId: string },
  ended: { readonly id: string; readonly userId: number; readonly session: string | undefined },
  { issuer, now }: { readonly issuer: string; readonly now: number },
): LogoutTokenClaims {
  const iat = Math.floor(now / 1000);
  return {
    iss: issuer,
    sub: subjectOf(rule, ended.userId),
    aud: clientId,
    iat,
    exp: iat + LOGOUT_TOKEN_LIFETIME_S,
    jti: ended.id,
    events: { [EVENT]: {} },
    ...(ended.session !== undefined && { sid: sessionIdFor(clientId, ended.session) }),
  };
}
