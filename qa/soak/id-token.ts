import { decodeProtectedHeader } from 'jose';
import { accessTokenHash } from '#oauth/openid/id-token.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { SIGNING_KEYS } from '#test/support/keys.js';

/** Claims that are the same in all ID tokens of a grant. */
export interface LoginOfGrant {
  readonly sid: unknown;
  readonly authTime: unknown;
}

export interface ExpectedIdToken {
  readonly issuer: string;
  readonly clientId: string;
  readonly userId: number;
  /** Undefined for a refresh (section 12.2 of OpenID Connect Core). */
  readonly nonce: string | undefined;
  /** Login in the grant's first ID token; null for a grant without one. */
  readonly login: LoginOfGrant | null;
}

/** @param body body of a successful response */
export async function checkIdToken(
  body: Readonly<Record<string, unknown>>,
  { issuer, clientId, userId, nonce, login }: ExpectedIdToken,
): Promise<{ readonly problems: string[]; readonly login: LoginOfGrant | null }> {
  const { id_token: idToken, access_token: accessToken } = body;
  if (typeof idToken !== 'string') return { problems: ['it is missing'], login };
  const claims = await SIGNING_KEYS.verify(idToken, issuer);
  if (typeof claims === 'string') return { problems: [`its ${claims} is wrong`], login };
  const alg = decodeProtectedHeader(idToken).alg as SigningAlgorithm;
  const found = { sid: claims['sid'], authTime: claims['auth_time'] };
  const expected: Readonly<Record<string, unknown>> = {
    sub: String(userId),
    aud: clientId,
    nonce,
    at_hash: accessTokenHash(String(accessToken), alg),
    sid: (login ?? found).sid,
    auth_time: (login ?? found).authTime,
  };
  const problems = Object.entries(expected)
    .filter(([name, value]) => claims[name] !== value)
    .map(([name, value]) => `${name} is ${String(claims[name])}, not ${String(value)}`);
  if (typeof found.sid !== 'string') problems.push('sid is missing');
  return { problems, login: found };
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly receivedAt: number;
}

/** Times are milliseconds since the soak began. */
interface Revocation {
  readonly reason: string;
  readonly requestedAt: number;
  confirmedAt: number | null;
}

/** State of a grant in the model. Times are milliseconds since the soak began. */
export class Grant {
  /** One line for each request and for the revocation. */
  readonly history: string[] = [];
  /** Ordered from the oldest to the newest. */
  readonly pairs: TokenPair[] = [];
  revocation: Revocation | null = null;
  /** Login in the first ID token; null without the scope `openid`. */
  login: LoginOfGrant | null = null;

  /** @param issuedAt time at which the request for the code was sent */
  constructor(readonly issuedAt: number) {}

  get newest(): TokenPair | undefined {
    return this.pairs.at(-1);
  }
}
