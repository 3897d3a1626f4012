import { chmod, link, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/**
 * Creates a folder that other users cannot list. Under root, other users may enter it, because PostgreSQL runs as
 * `nobody`.
 * Keeps the mode of an existing folder.
 */
export async function localFolder(directory: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  const created = await mkdir(directory, { recursive: true, mode });
  if (created !== undefined) await chmod(directory, mode);
}

/** Returns a secret that needs no escaping in a URL or configuration file. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the secret in a file, which the first call creates. Concurrent first calls return the same secret. */
export async function keptSecret(
  file: string,
  make: () => string | Promise<string> = newSecret,
): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const folder = await mkdtemp(`${file}-`);
  try {
    const draft = join(folder, 'secret');
    await writeFile(draft, `${await make()}\n`, { mode: 0o600 });
    // link(2) is atomic and does not replace an existing file.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}
