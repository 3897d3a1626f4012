import { randomBytes } from 'node:crypto';
import { readSecretLine } from '../command-line/secret-input.js';

/** @throws InputError as readSecretLine */
export function readPassword(): Promise<string> {
  return readSecretLine('--password-stdin', 'the password');
}

/** 144 random bits, without characters that are easily lost when copied. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
