import type { LoginOfGrant } from './id-token.js';

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
