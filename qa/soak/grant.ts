import type { LoginOfGrant } from './id-token.js';

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly receivedAt: number;
}

/** Times are milliseconds since the soak began. `confirmedAt` is null until a request for the revocation succeeded. */
interface Revocation {
  readonly reason: string;
  readonly requestedAt: number;
  confirmedAt: number | null;
}

/** The model's state of a grant. Times are milliseconds since the soak began. */
export class Grant {
  /** Requests and revocation, one line each. */
  readonly history: string[] = [];
  /** The token pairs that its client received, the newest last. */
  readonly pairs: TokenPair[] = [];
  revocation: Revocation | null = null;
  /** Login in the first ID token; null without `openid`. */
  login: LoginOfGrant | null = null;

  /** @param issuedAt when the browser sent the request that returned the code */
  constructor(readonly issuedAt: number) {}

  get newest(): TokenPair | undefined {
    return this.pairs.at(-1);
  }
}
