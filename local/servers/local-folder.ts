import { chmod, link, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/**
 * Makes the folder of data, logs and secrets for us alone. As root others may pass through it and not list it:
 * PostgreSQL runs as `nobody` then, whatever our umask. A folder that exists keeps its mode: LOCAL_DIR may name any.
 */
export async function localFolder(directory: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  const made = await mkdir(directory, { recursive: true, mode });
  if (made !== undefined) await chmod(directory, mode);
}

/** 256 random bits in URL-safe characters: needs no escaping in a URL or a configuration file. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * The secret kept in a file that its owner alone may read; made by the first call.
 * Two first calls at once return the same one.
 */
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
    // A link appears whole or not at all, and never over a file that is there.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}
