import { randomInt } from 'node:crypto';
import { unauthorizedClient } from './client-credentials.js';

/** Grant type of RFC 8628 3.4. */
export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** `expires_in` (RFC 8628 3.2), in seconds: enough time to find a phone and log in. */
export const DEVICE_CODE_LIFETIME = 15 * 60;

/** `interval` (RFC 8628 3.2), in seconds. Each `slow_down` adds the same number of seconds (3.5). */
export const POLL_INTERVAL = 5;

/** @throws OAuthError unauthorized_client */
export function checkDeviceGrant({
  clientId,
  deviceGrant,
}: {
  readonly clientId: string;
  readonly deviceGrant: boolean;
}): void {
  if (!deviceGrant) throw unauthorizedClient(clientId, 'grant_type_unregistered.device_code');
}

/** Consonants (RFC 8628 6.1), so that no code is a word and no letter is mistaken for a digit. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const USER_CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);

/** Returns 8 random letters out of 20 (34.5 bits), without the hyphen. */
export function generateUserCode(random: (max: number) => number = randomInt): string {
  return Array.from({ length: LENGTH }, () => LETTERS[random(LETTERS.length)]).join('');
}

/** Returns the code as users see it: `WDJB-MJHT`. */
export function displayedUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** Ignores punctuation and letter case (RFC 8628 6.1). Returns null for a text that cannot be a code. */
export function normalizeUserCode(input: unknown): string | null {
  if (typeof input !== 'string' || input.length > 100) return null;
  const code = input
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return USER_CODE.test(code) ? code : null;
}
