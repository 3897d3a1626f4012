import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface EncryptionKey {
  /** At least 128 random bits that are not stored with the text. */
  readonly secret: string;
  /** Texts of one purpose cannot be decrypted for another purpose. */
  readonly purpose: string;
  /** Id of the record, so that an encrypted text cannot be moved to another record. */
  readonly record?: string;
}

/** @returns base64url(iv ‖ tag ‖ ciphertext) */
export function encrypt(text: string, { record = '', ...key }: EncryptionKey): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, keyOf(key), iv).setAAD(Buffer.from(record));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url');
}

/** @returns null if the text was not encrypted with this key for this record */
export function decrypt(encrypted: string, { record = '', ...key }: EncryptionKey): string | null {
  const bytes = Buffer.from(encrypted, 'base64url');
  const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
  try {
    const decipher = createDecipheriv(ALGORITHM, keyOf(key), iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag).setAAD(Buffer.from(record));
    const text = [decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
    return Buffer.concat(text).toString('utf8');
  } catch {
    return null;
  }
}

function keyOf({ secret, purpose }: EncryptionKey): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
