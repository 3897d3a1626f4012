import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { SIGNING_KEYS } from '#test/support/keys.js';
import { type ReceivedLogout, startLogoutReceiver as startReceiver } from '#test/support/logout-receiver.js';

export interface LogoutClaims {
  readonly sub: string;
  readonly jti: string;
  readonly sid?: string;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const keys = createLocalJWKSet(SIGNING_KEYS.jwks as JSONWebKeySet);

/** Receives and checks the logout tokens of all clients. */
export async function startLogoutReceiver() {
  const checks = {
    /** Expected `iss`; must be set before the first log-out. */
    issuer: '',
    onToken: (_claims: LogoutClaims): void => undefined,
    onInvalid: (_reason: string): void => undefined,
  };
  const receiver = await startReceiver((logout) =>
    claimsOf(logout, checks.issuer).then(
      (claims) => checks.onToken(claims),
      (error: unknown) => checks.onInvalid(error instanceof Error ? error.message : String(error)),
    ),
  );
  return Object.assign(checks, { url: receiver.url, close: () => receiver.close() });
}

export type LogoutReceiver = Awaited<ReturnType<typeof startLogoutReceiver>>;

async function claimsOf({ path, token }: ReceivedLogout, issuer: string): Promise<LogoutClaims> {
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    // The path is the client id.
    audience: path.slice(1),
    typ: 'logout+jwt',
    requiredClaims: ['sub', 'iat', 'exp', 'jti', 'events'],
  });
  if ('nonce' in payload || !(EVENT in (payload['events'] as object)))
    throw new Error('it is not a logout token');
  const { sub = '', jti = '', sid } = payload;
  return { sub, jti, ...(typeof sid === 'string' && { sid }) };
}
