import { randomBytes } from 'node:crypto';
import { readSecretLine } from '../command-line/secret-input.js';

export function readPassword(): Promise<string> {
  return readSecretLine('--password-stdin', 'the password');
}

/** 144 random bits, in characters that survive copying. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
