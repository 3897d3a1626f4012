import { KeyRing } from '../key-ring.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';

/**
 * Returns `empty`, `public`, or the reason why the text cannot be read; null for private keys. Never repeats the text.
 */
export function whyNotPrivateKeys(text: string): string | null {
  if (text.trim() === '') return 'empty';
  try {
    return SigningKeys.parse(text).canSign ? null : 'public';
  } catch (error) {
    return (error as Error).message;
  }
}

export function isTokenKeys(text: string): boolean {
  try {
    KeyRing.parse(text);
    return true;
  } catch {
    return false;
  }
}
