import { open } from 'node:fs/promises';
import { MAX_JWKS } from '#oauth/client-assertion/client-keys.js';
import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';

/** Paths of files; `none` removes the registered value. */
export interface FileOptions {
  readonly logo?: string | undefined;
  readonly jwks?: string | undefined;
  readonly addKey?: string | undefined;
}

export interface GivenFiles {
  readonly logo?: Buffer | null;
  readonly jwks?: string | null;
  readonly addKeys?: string;
}

/** Treats an unreadable file as empty. The operation reports an empty file together with all other problems. */
export async function readGivenFiles({ logo, jwks, addKey }: FileOptions): Promise<GivenFiles> {
  const image = await readGiven(logo, MAX_LOGO_BYTES);
  // UTF-8 encodes a character in at most four bytes.
  const keys = await readGiven(jwks, 4 * MAX_JWKS);
  const added = await readGiven(addKey, 4 * MAX_JWKS);
  return {
    ...(image !== undefined && { logo: image }),
    ...(keys !== undefined && { jwks: keys && keys.toString() }),
    ...(added !== undefined && { addKeys: added?.toString() ?? '' }),
  };
}

async function readGiven(file: string | undefined, limit: number): Promise<Buffer | null | undefined> {
  if (file === undefined) return undefined;
  return file === 'none' ? null : readFirst(file, limit + 1).catch(() => Buffer.alloc(0));
}

/** Reads at most `bytes`, so that a huge file or a device cannot exhaust memory. */
async function readFirst(file: string, bytes: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
