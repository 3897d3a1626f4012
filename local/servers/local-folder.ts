import { chmod, mkdir } from 'node:fs/promises';

/**
 * Makes the folder of data, logs and secrets for us alone. As root others may pass through it and not list it:
 * PostgreSQL runs as `nobody` then, whatever our umask. A folder that exists keeps its mode: LOCAL_DIR may name any.
 */
export async function localFolder(directory: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  const made = await mkdir(directory, { recursive: true, mode });
  if (made !== undefined) await chmod(directory, mode);
}
