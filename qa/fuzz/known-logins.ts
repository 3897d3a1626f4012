import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { sessionIdFor } from '#oauth/openid/id-token.js';
import { SIGNING_KEYS } from '#test/support/keys.js';

interface KnownLogin {
  readonly clientId: string;
  readonly userId: number;
  readonly nonce: string;
}

const KEYS: ReadonlyMap<string | undefined, KeyObject> = new Map(
  SIGNING_KEYS.jwks.keys
    .filter(({ alg }) => alg === 'RS256')
    .map((key) => [key.kid, createPublicKey({ key: { ...key }, format: 'jwk' })]),
);

/** Logins of the fuzzer's grants, by the `sid` of the ID tokens. */
export class KnownLogins {
  private readonly bySid = new Map<unknown, KnownLogin>();

  add(session: string, login: KnownLogin): void {
    this.bySid.set(sessionIdFor(login.clientId, session), login);
  }

  /** Checks the ID token (sections 2, 3.1.3.3 and 12.2 of OpenID Connect Core). @returns null for a valid response */
  problem({ scope, id_token: idToken }: Readonly<Record<string, unknown>>): string | null {
    const isOpenId = String(scope).split(' ').includes('openid');
    if (typeof idToken !== 'string') return isOpenId ? 'the ID token is missing' : null;
    if (!isOpenId) return 'an ID token without the scope openid';
    const [header = '', payload = '', signature = ''] = idToken.split('.');
    const key = KEYS.get(decodeProtectedHeader(idToken).kid);
    const signed = Buffer.from(`${header}.${payload}`);
    if (!key || !verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url')))
      return 'no published key verifies the ID token';
    const { sub, aud, nonce, sid } = decodeJwt(idToken);
    const login = this.bySid.get(sid);
    if (!login) return 'the ID token has an unknown sid';
    if (sub !== String(login.userId) || aud !== login.clientId)
      return 'the ID token is about another user or for another application';
    return nonce === undefined || nonce === login.nonce ? null : 'the ID token has another nonce';
  }
}
