import { KeyRing } from '../key-ring.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';

/** @param name name of the value in messages, which never contain the value */
export function idTokenKeyProblemsOf(name: string, text: string): string[] {
  if (text === undefined || text.trim() === '')
    return [`${name}: it is empty: give the private keys of the token app`];
  try {
    return SigningKeys.parse(text).canSign ? [] : [`${name}: give the private keys, which the token app has`];
  } catch (error) {
    return [`${name}: this is not a value of ID_TOKEN_KEYS: ${(error as Error).message}`];
  }
}

export function tokenKeyProblems(text: string): string[] {
  try {
    KeyRing.parse(text);
    return [];
  } catch {
    return [
      text === undefined || text === ''
        ? '‹tokenKeys›: stdin is empty: give the current value of TOKEN_KEYS'
        : '‹tokenKeys›: this is not a value of TOKEN_KEYS: give different keys of 32 random bytes in base64url, comma-separated',
    ];
  }
}
