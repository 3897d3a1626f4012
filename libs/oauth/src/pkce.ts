import { hash } from 'node:crypto';

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Returns the S256 challenge of a code verifier (RFC 7636 4.2); null if the verifier is malformed (4.1). */
export function challengeOf(verifier: string): string | null {
  return VERIFIER.test(verifier) ? hash('sha256', verifier, 'base64url') : null;
}

/** Returns true for base64url of 32 bytes (RFC 7636 4.2). */
export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}
