/** A proof whose signature, claims and target are good. Whether it was used before is still to be asked. */
export interface DpopProof {
  /** Thumbprint of the key that signed it (RFC 7638, SHA-256, base64url). */
  readonly jkt: string;
  /** Chosen by the client, at most 256 characters. */
  readonly jti: string;
  /** Null when the proof has none. */
  readonly nonce: string | null;
  /** When it will be too old to be taken (milliseconds since the epoch); until then it must be remembered. */
  readonly expiresAt: number;
}
