import type { LoginOfGrant } from './id-token.js';

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly receivedAt: number;
}

/** Milliseconds since the soak began. */
interface Revocation {
  readonly reason: string;
  readonly requestedAt: number;
  confirmedAt: number | null;
}

/** State of a grant in the model. Times are milliseconds since the soak began. */
export class Grant {
  /** Requests and revocation, one line each. */
  readonly history: string[] = [];
  /** The newest last. */
  readonly pairs: TokenPair[] = [];
  revocation: Revocation | null = null;
  /** From the first ID token; null without `openid`. */
  login: LoginOfGrant | null = null;

  /** @param issuedAt time of the request that returned the code */
  constructor(readonly issuedAt: number) {}

  get newest(): TokenPair | undefined {
    return this.pairs.at(-1);
  }
}
