/** The durable truth of what a user allowed to a client. */
export interface GrantRecord {
  /** base64url of the SHA-256 of the grant's handle: no token can be made from it. */
  readonly id: string;
  readonly userId: number;
  readonly clientId: string;
  /** Space-separated (RFC 6749 3.3); empty when no scope was asked for. */
  readonly scope: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}
